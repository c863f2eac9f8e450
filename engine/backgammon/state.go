package backgammon

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ludger/engine"
)

// AppendState appends the canonical state, the same for every viewer.
func (p *Position) AppendState(dst []byte, _ engine.Seat) []byte {
	dst = p.board.append(dst)
	dst = append(dst, ' ')
	switch p.phase {
	case opening:
		dst = append(dst, "opening"...)
	case ended:
		if p.winner == nobody {
			dst = append(dst, "drawn"...)
		} else {
			dst = append(dst, '0'+byte(p.winner), ':')
			dst = append(dst, "won"...)
		}
	default:
		dst = append(dst, '0'+byte(p.turn), ':')
		switch p.phase {
		case rolling:
			dst = append(dst, roll...)
		case acting:
			dst = append(dst, "act"...)
		case answer:
			dst = append(dst, "answer"...)
		case offered:
			dst = append(append(dst, "offer"...), '0'+byte(p.offer))
		case playing:
			dst = append(dst, '0'+byte(p.dice[0]), '0'+byte(p.dice[1]))
		}
	}
	dst = append(dst, ' ')
	if p.cube == 0 {
		dst = append(dst, '-')
	} else {
		dst = strconv.AppendInt(dst, int64(p.cube), 10)
		if p.owner != middle {
			dst = append(dst, '@', '0'+byte(p.owner))
		}
	}
	dst = append(dst, ' ')
	if p.length == 0 {
		dst = append(dst, '-')
	} else {
		dst = strconv.AppendInt(dst, int64(p.score[0]), 10)
		dst = append(dst, '-')
		dst = strconv.AppendInt(dst, int64(p.score[1]), 10)
		dst = append(dst, '/')
		dst = strconv.AppendInt(dst, int64(p.length), 10)
		if p.crawford {
			dst = append(dst, 'c')
		} else if p.after {
			dst = append(dst, 'p')
		}
	}
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, int64(p.plies), 10)
	if p.phase == ended {
		dst = append(dst, " over:"...)
		dst = append(dst, p.reason...)
	}
	return dst
}

// append appends the 26 places of a board as XGID writes them.
func (b *board) append(dst []byte) []byte {
	for at := range 26 {
		ours, theirs := byte(0), byte(0)
		if at > 0 {
			ours = b[0][at]
		}
		if at < 25 {
			theirs = b[1][25-at]
		}
		switch {
		case ours > 0:
			dst = append(dst, 'A'-1+ours)
		case theirs > 0:
			dst = append(dst, 'a'-1+theirs)
		default:
			dst = append(dst, '-')
		}
	}
	return dst
}

func readBoard(text string) (b board, err error) {
	if len(text) != 26 {
		return b, fmt.Errorf("board %q of %d places, want 26", text, len(text))
	}
	for at := range 26 {
		switch c := text[at]; {
		case c == '-':
		case 'A' <= c && c <= 'O' && at > 0:
			b[0][at] = c - 'A' + 1
		case 'a' <= c && c <= 'o' && at < 25:
			b[1][25-at] = c - 'a' + 1
		default:
			return b, fmt.Errorf("%q in place %d of the board", c, at)
		}
	}
	for seat := range b {
		n := 0
		for _, count := range b[seat] {
			n += int(count)
		}
		if n == 0 || n > checkers {
			return b, fmt.Errorf("%d checkers of seat %d on the board, want 1 to %d", n, seat, checkers)
		}
		b[seat][off] = uint8(checkers - n)
	}
	return b, nil
}

// readState sets a position of the variant from the state of one that is not over. Only what
// AppendState prints is read.
func (p *Position) readState(text string) error {
	field := strings.Split(text, " ")
	if len(field) != 5 {
		return fmt.Errorf("%d fields apart by single spaces, want board, turn, cube, score and plies", len(field))
	}
	var err error
	if p.board, err = readBoard(field[0]); err != nil {
		return err
	}
	if p.cube > 0 {
		value, owner, owned := strings.Cut(field[2], "@")
		if p.cube, err = readCount(value, MaxCube); err != nil || p.cube == 0 || p.cube&(p.cube-1) != 0 {
			return fmt.Errorf("cube %q, want a power of two up to %d", field[2], MaxCube)
		}
		if owned {
			p.owner = seatOf(owner)
		}
		if owned != (p.cube > 1) {
			return fmt.Errorf("cube %q: it is owned if and only if it is above 1", field[2])
		}
	}
	if p.length > 0 {
		if err := p.readScore(field[3]); err != nil {
			return err
		}
	}
	if p.board.shut(0) && p.board.shut(1) {
		return errors.New("both seats are on the bar against closed boards, so that nobody could ever move")
	}
	if p.plies, err = readCount(field[4], MaxPlies-1); err != nil {
		return fmt.Errorf("plies %w", err)
	}
	if err := p.readTurn(field[1]); err != nil {
		return err
	}
	if again := string(p.AppendState(nil, engine.Spectator)); again != text {
		return fmt.Errorf("state reads as %q", again)
	}
	return nil
}

func (p *Position) readScore(text string) (err error) {
	scores, length, _ := strings.Cut(text, "/")
	first, second, _ := strings.Cut(scores, "-")
	number := strings.TrimRight(length, "cp")
	mark := length[len(number):]
	if p.length, err = readCount(number, MaxLength); err != nil || p.length == 0 {
		return fmt.Errorf("score %q: length of the match, want 1 to %d", text, MaxLength)
	}
	for i, s := range []string{first, second} {
		if p.score[i], err = readCount(s, p.length-1); err != nil {
			return fmt.Errorf("score %q: points %w", text, err)
		}
	}
	p.crawford, p.after = mark == "c", mark == "p"
	both := p.short() && p.score[0] == p.score[1]
	switch {
	case p.free && mark == "":
		return nil
	case p.free:
		return fmt.Errorf("score %q: this variant has no Crawford game", text)
	case p.short() != (p.crawford || p.after):
		return fmt.Errorf("score %q: want c or p if and only if a seat is one point short", text)
	case p.after && p.length == 1, p.crawford && both && p.length > 1:
		return fmt.Errorf("score %q: the Crawford game is the first with a seat one point short", text)
	case p.crawford && p.cube > 1:
		return errors.New("nobody doubles in the Crawford game")
	}
	return nil
}

func (p *Position) readTurn(text string) error {
	if text == "opening" {
		if p.board != startBoard() || p.owner != middle {
			return errors.New("an opening roll needs the opening position and the cube in the middle")
		}
		return nil
	}
	who, what, _ := strings.Cut(text, ":")
	if p.turn = seatOf(who); p.turn == nobody {
		return fmt.Errorf("turn %q, want opening or a seat such as 0:roll", text)
	}
	switch what {
	case roll:
		p.phase = rolling
	case "act":
		if p.phase = acting; p.cube == 0 {
			return fmt.Errorf("turn %q: nothing is asked where there is no cube", text)
		}
	case "offer1", "offer2":
		p.phase, p.offer = offered, int(what[len(what)-1]-'0')
		if p.cube == 0 || p.offer >= p.board.worst(p.turn^1) {
			return fmt.Errorf("turn %q: seat %d cannot offer that", text, p.turn^1)
		}
	case "answer":
		if p.phase = answer; !p.mayDouble(p.turn ^ 1) {
			return fmt.Errorf("turn %q: seat %d may not have doubled", text, p.turn^1)
		}
	default:
		var ok bool
		if p.dice, ok = readDice(what); !ok {
			return fmt.Errorf("turn %q, want roll, act, answer, offer1, offer2 or two dice", text)
		}
		p.dice = larger(p.dice)
		if p.phase = playing; p.board.stuck(p.turn, p.dice) {
			return fmt.Errorf("turn %q: seat %d has no legal play", text, p.turn)
		}
	}
	return nil
}

// seatOf returns the seat of a text, or nobody.
func seatOf(text string) int {
	switch text {
	case "0":
		return 0
	case "1":
		return 1
	}
	return nobody
}

// readCount reads a decimal number from 0 to most without leading zeros.
func readCount(text string, most int) (n int, err error) {
	if text == "" || len(text) > 1 && text[0] == '0' {
		return 0, fmt.Errorf("%q, want a number from 0 to %d", text, most)
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' || n > most {
			return 0, fmt.Errorf("%q, want a number from 0 to %d", text, most)
		}
		n = 10*n + int(text[i]-'0')
	}
	if n > most {
		return 0, fmt.Errorf("%q, want a number from 0 to %d", text, most)
	}
	return n, nil
}
