package notation

import (
	"strconv"
	"strings"
)

// moves reads the movetext section (section 8.2), up to and with its result.
func (r *PGNReader) moves(g *PGN) error {
	for {
		c, ok := r.peek()
		if !ok {
			g.Cut = true
			return nil
		}
		line := r.line
		var last *PGNMove
		comments := &g.Comments
		if n := len(g.Moves); n > 0 {
			last = &g.Moves[n-1]
			comments = &last.Comments
		}
		var err error
		switch {
		case isSpace(c) || c == '.':
			r.take()
		case c == '%' && r.bol:
			r.skipLine()
		case c == '{' || c == ';':
			err = r.keep(comments)
		case c == '(':
			err = r.variation()
		case c == ')':
			err = r.errorf(line, "variation closed that was not opened")
		case c == '[':
			if _, tag := r.atTag(); tag {
				g.Cut = true
				return nil
			}
			err = r.errorf(line, "unexpected %q", c)
		case c == '$' || c == '!' || c == '?':
			var nag int
			if nag, err = r.annotation(); err != nil {
				break
			}
			if last == nil {
				return r.errorf(line, "annotation $%d before the first move", nag)
			}
			last.NAGs = append(last.NAGs, nag)
			err = r.cost(textCost, line)
		case c == '*':
			r.take()
			g.Result = "*"
			return nil
		case isLetter(c) || isDigit(c) || c == '-':
			var token string
			if token, err = r.symbol(); err != nil {
				break
			}
			if isResult(token) {
				g.Result = token
				return nil
			}
			err = r.token(g, token, line)
		default:
			err = r.errorf(line, "unexpected %q", c)
		}
		if err != nil {
			return err
		}
	}
}

// symbol reads one token of letters, digits and the signs of moves and results.
func (r *PGNReader) symbol() (string, error) {
	var b []byte
	for c, ok := r.peek(); ok && isSymbol(c); c, ok = r.peek() {
		if len(b) == 2*MaxSAN {
			return "", r.errorf(r.line, "token %q… of more than %d bytes", b, 2*MaxSAN)
		}
		b = append(b, c)
		r.take()
	}
	return string(b), nil
}

// token takes a move number or a move.
func (r *PGNReader) token(g *PGN, token string, line int) error {
	if number(token) {
		return nil
	}
	token = castling(token)
	san, mark := strings.CutSuffix(token, "e")
	if !mark || !r.enPassant() {
		return r.move(g, token, line)
	}
	check := ""
	if c, ok := r.peek(); ok && (c == '+' || c == '#') {
		check = string(c)
		r.take()
	}
	if n := len(g.Moves); san == "" && n > 0 { // the mark stands apart from its move
		g.Moves[n-1].SAN += check
		return r.checkSAN(g.Moves[n-1].SAN, line)
	}
	return r.move(g, san+check, line)
}

// enPassant takes the rest of "e.p.", whose e ended the token before it. It says nothing that the
// move does not.
func (r *PGNReader) enPassant() bool {
	if b, _ := r.br.Peek(3); string(b) != ".p." {
		return false
	}
	r.br.Discard(3)
	r.bol = false
	return true
}

func (r *PGNReader) move(g *PGN, san string, line int) error {
	if len(g.Moves) == MaxMoves {
		return r.errorf(line, "more than %d half-moves", MaxMoves)
	}
	g.Moves = append(g.Moves, PGNMove{SAN: san, Line: line})
	return r.checkSAN(san, line)
}

func (r *PGNReader) checkSAN(san string, line int) error {
	if err := checkSAN(san); err != nil {
		return r.errorf(line, "%v", err)
	}
	return nil
}

// number tells a move number (section 8.2.2). 0000 is the null move of engines, not a number.
func number(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != "0000"
}

// castling turns zeros into the letters that the standard asks for (section 8.2.3.3).
func castling(s string) string {
	if rest, ok := strings.CutPrefix(s, "0-0-0"); ok {
		return "O-O-O" + rest
	}
	if rest, ok := strings.CutPrefix(s, "0-0"); ok {
		return "O-O" + rest
	}
	return s
}

// annotation reads a numeric annotation glyph or its traditional form (section 8.2.4).
func (r *PGNReader) annotation() (int, error) {
	line := r.line
	first, _ := r.peek()
	r.take()
	b := []byte{first}
	for c, ok := r.peek(); ok && len(b) < 8; c, ok = r.peek() {
		if first == '$' && !isDigit(c) || first != '$' && c != '!' && c != '?' {
			break
		}
		b = append(b, c)
		r.take()
	}
	if first == '$' {
		n, err := strconv.Atoi(string(b[1:]))
		if err != nil || n > MaxNAG {
			return 0, r.errorf(line, "annotation %q is not $0 to $%d", b, MaxNAG)
		}
		return n, nil
	}
	for n, s := range []string{1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!"} {
		if n > 0 && s == string(b) {
			return n, nil
		}
	}
	return 0, r.errorf(line, "unknown annotation %q", b)
}

// variation skips a recursive variation (section 8.2.5).
func (r *PGNReader) variation() error {
	line, depth := r.line, 0
	for {
		c, ok := r.peek()
		if ok && c == '[' && r.bol {
			_, tag := r.atTag()
			ok = !tag
		}
		if !ok {
			return r.errorf(line, "variation is not closed")
		}
		switch {
		case c == '{' || c == ';':
			if _, err := r.comment(false); err != nil {
				return err
			}
			continue
		case c == '%' && r.bol:
			r.skipLine()
			continue
		case c == '(':
			if depth++; depth > MaxDepth {
				return r.errorf(r.line, "variations more than %d deep", MaxDepth)
			}
		case c == ')':
			depth--
		}
		r.take()
		if depth == 0 {
			return nil
		}
	}
}
