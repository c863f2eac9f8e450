package drand

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/drand/drand/v2/common/chain"
	"github.com/drand/drand/v2/crypto"
	client "github.com/drand/go-clients/client/http"
	their "github.com/drand/go-clients/drand"
	"github.com/drand/kyber"

	"ludger/checkpoint/beacon"
)

// ErrClock says that this machine's clock is behind: rounds are out that are not due by it. Whoever
// fixes a coming round by such a clock fixes one that others know.
var ErrClock = errors.New("this machine's clock is behind")

// ErrOverdue says that no round near the one that is due is out, as far as the servers say: the
// network has halted, or this machine's clock is ahead, or no server can be reached.
var ErrOverdue = errors.New("the beacon is overdue")

// ErrClosed says that the source was closed.
var ErrClosed = errors.New("the source of beacons is closed")

// MaxServers is the number of servers that a source asks.
const MaxServers = 16

const (
	hedge        = 500 * time.Millisecond // until the next server is asked too
	firstDelay   = 100 * time.Millisecond // after all servers have been asked; doubled each time
	maxDelay     = 5 * time.Second        // and never more than a period, if that is longer than a second
	patience     = time.Second            // of Newest, with the round that is due just now
	newestLimit  = 4 * time.Second        // of Newest, in all
	newestRounds = 4                      // that Newest asks for: the one due and the ones before
	failureAge   = time.Second            // for which Newest repeats a failure without asking
	maxSkew      = 2 * time.Second        // between our clock and that of the network
	recentRounds = 64                     // that are remembered
	overdueAfter = 30 * time.Second       // a round's absence is written to the log
)

// HTTPOptions are the settings of an HTTP source. The zero value is good.
type HTTPOptions struct {
	// Timeout is how long the servers have to answer one question. A server holds its answer back until
	// the next round is out, so it should be longer than the period. 0: the period and 3 s, at most 10 s.
	Timeout time.Duration
	// Log gets wrong answers (warnings) and outages. nil: nobody does.
	Log *slog.Logger
	// Now is the clock. nil: time.Now.
	Now func() time.Time
}

// HTTP gets the rounds of a chain from servers of drand. It trusts none of them: a server is asked for
// one round by its number, never for the latest, and what it answers is checked with the chain's key
// before anything else sees it. All other answers, none, an error, another round, a forged or a huge
// one, mean that the round is not out yet as far as this server knows, and the others are asked, and
// the same again later. A round is never replaced by another.
//
// However many wait for a round, the servers are asked for it once.
type HTTP struct {
	chain   *beacon.Chain
	now     func() time.Time
	timeout time.Duration
	log     *slog.Logger
	base    *transport
	servers []*server
	turn    chan struct{} // holds one value while Newest asks
	proven  int64         // the round that was due when Newest last succeeded with it; guarded by turn

	life context.Context
	end  context.CancelFunc
	wait sync.WaitGroup // flights; none is added once closed is set

	mu      sync.Mutex // of what follows
	closed  bool
	flights map[int64]*flight
	recent  map[int64][]byte // verified signatures
	order   []int64          // the keys of recent, the oldest first
	first   int              // the server that is asked first: the last that gave a round
	failed  struct {         // Newest's last failure
		at  time.Time
		err error
	}
	health Health // Round, Seen, Wrong and LastWrong
}

type server struct {
	url    string
	client their.Client
	wrong  string // its last wrong answer; guarded by HTTP.mu
}

// A flight asks for one round until it is there.
type flight struct {
	cancel    context.CancelFunc
	done      chan struct{}
	signature []byte // set before done is closed
	waiting   int    // who waits; guarded by HTTP.mu, as is last
	last      error
}

// A Health says how a source does.
type Health struct {
	Due       int64         // the round that is due by this machine's clock, 0 before the first
	Round     int64         // the newest round seen, 0 for none
	Seen      time.Time     // when it came
	Late      time.Duration // how long the round after Round is overdue; 0 if it is not due yet
	Err       error         // what Newest says: with an error no round can be chosen
	Wrong     int64         // wrong answers so far
	LastWrong string        // the last one: server, round and reason
}

// NewHTTP returns a source of the chain's rounds from servers, given by their addresses. It asks
// nobody yet: what describes the chain is info alone. The scheme must be beacon.UnchainedG1.
func NewHTTP(info beacon.Info, urls []string, o HTTPOptions) (*HTTP, error) {
	c, err := beacon.NewChain(info)
	if err != nil {
		return nil, err
	}
	publicKey, err := keyOf(info)
	if err != nil {
		return nil, err
	}
	if len(urls) == 0 || len(urls) > MaxServers {
		return nil, fmt.Errorf("%d servers for chain %s are not 1 to %d", len(urls), info.Name, MaxServers)
	}
	if o.Timeout == 0 {
		o.Timeout = min(time.Duration(info.Period)*time.Second+3*time.Second, 10*time.Second)
	}
	if o.Timeout < 0 {
		return nil, fmt.Errorf("timeout of %v is negative", o.Timeout)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	description := &chain.Info{
		PublicKey: publicKey, ID: info.Name, Period: time.Duration(info.Period) * time.Second,
		Scheme: string(info.Scheme), GenesisTime: info.Genesis, GenesisSeed: info.GroupHash[:],
	}
	if !bytes.Equal(description.Hash(), info.Hash[:]) {
		return nil, fmt.Errorf("chain %s: drand's library gives it the hash %x, not %v", info.Name, description.Hash(), info.Hash)
	}
	h := &HTTP{
		chain: c, now: o.Now, timeout: o.Timeout, log: o.Log, base: newTransport(), turn: make(chan struct{}, 1),
		flights: make(map[int64]*flight), recent: make(map[int64][]byte),
	}
	for _, s := range urls {
		address, err := checkURL(s)
		if err != nil {
			return nil, fmt.Errorf("server for chain %s: %w", info.Name, err)
		}
		if slices.ContainsFunc(h.servers, func(s *server) bool { return s.url == address }) {
			return nil, fmt.Errorf("server for chain %s: %s is named twice", info.Name, address)
		}
		cl, err := client.NewWithInfo(nil, address, description, h.base)
		if err != nil {
			return nil, fmt.Errorf("server %s: %w", address, err)
		}
		cl.SetUserAgent("ludger")
		h.servers = append(h.servers, &server{url: address, client: cl})
	}
	h.life, h.end = context.WithCancel(context.Background())
	return h, nil
}

// Close ends all waiting with ErrClosed.
func (h *HTTP) Close() {
	h.mu.Lock()
	closed := h.closed
	h.closed = true
	h.mu.Unlock()
	h.end()
	h.wait.Wait()
	if !closed {
		for _, s := range h.servers {
			_ = s.client.Close()
		}
	}
	h.base.base.CloseIdleConnections()
}

// Chain describes the chain.
func (h *HTTP) Chain() beacon.Info { return h.chain.Info() }

// Round waits for a round's time and then for the round, however late it is.
func (h *HTTP) Round(ctx context.Context, round int64) ([]byte, error) {
	at, err := h.Chain().TimeOf(round)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	if s := h.recent[round]; s != nil {
		h.mu.Unlock()
		return bytes.Clone(s), nil
	}
	if h.closed {
		h.mu.Unlock()
		return nil, ErrClosed
	}
	f := h.flights[round]
	if f == nil {
		life, cancel := context.WithCancel(h.life)
		f = &flight{cancel: cancel, done: make(chan struct{})}
		h.flights[round] = f
		h.wait.Go(func() { h.fly(life, f, round, time.UnixMilli(at)) })
	}
	f.waiting++
	h.mu.Unlock()

	select {
	case <-f.done:
		if f.signature == nil {
			return nil, ErrClosed
		}
		return bytes.Clone(f.signature), nil
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.waiting--; f.waiting == 0 {
		f.cancel()
		if h.flights[round] == f { // it may be over, and another one begun
			delete(h.flights, round)
		}
	}
	err = fmt.Errorf("waiting for round %d of chain %s: %w", round, h.Chain().Name, ctx.Err())
	if f.last != nil {
		err = fmt.Errorf("%w; the servers said: %w", err, f.last)
	}
	return nil, err
}

// fly asks until the round is there. Before the round's time nobody is asked.
func (h *HTTP) fly(ctx context.Context, f *flight, round int64, at time.Time) {
	defer close(f.done)
	defer f.cancel()
	for wait := at.Sub(h.now()); wait > 0; wait = at.Sub(h.now()) {
		// The clock may be set while we wait.
		if !sleep(ctx, min(wait, time.Minute)) {
			return
		}
	}
	limit := min(maxDelay, max(time.Second, time.Duration(h.Chain().Period)*time.Second))
	overdue := false
	for delay := firstDelay; ; delay = min(2*delay, limit) {
		signature, err := h.ask(ctx, round, h.timeout)
		if err == nil {
			f.signature = signature
			h.mu.Lock()
			if h.flights[round] == f {
				delete(h.flights, round)
			}
			h.mu.Unlock()
			if overdue {
				h.log.Info("the overdue beacon is out", "chain", h.Chain().Name, "round", round, "late", h.now().Sub(at))
			}
			return
		}
		if ctx.Err() != nil {
			return
		}
		h.mu.Lock()
		f.last = err
		h.mu.Unlock()
		if late := h.now().Sub(at); late > overdueAfter && !overdue {
			overdue = true
			h.log.Warn("a beacon is overdue; it is waited for", "chain", h.Chain().Name, "round", round, "late", late, "err", err)
		}
		if !sleep(ctx, delay) {
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// ask asks the servers for a round and remembers it.
func (h *HTTP) ask(ctx context.Context, round int64, limit time.Duration) ([]byte, error) {
	_, signature, err := h.question(ctx, round, limit, hedge)
	if err != nil {
		return nil, err
	}
	h.remember(round, signature)
	return signature, nil
}

func (h *HTTP) remember(round int64, signature []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if round > h.health.Round {
		h.health.Round, h.health.Seen = round, h.now()
	}
	if h.recent[round] != nil {
		return
	}
	h.recent[round] = bytes.Clone(signature)
	if h.order = append(h.order, round); len(h.order) > recentRounds {
		delete(h.recent, h.order[0])
		h.order = slices.Delete(h.order, 0, 1)
	}
}

// question asks the servers for a round, one more whenever one has failed or pause is over, and
// returns the first right answer. When it returns, nothing of it runs any more.
func (h *HTTP) question(ctx context.Context, round int64, limit, pause time.Duration) (got int64, signature []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	h.mu.Lock()
	first := h.first
	h.mu.Unlock()
	type answer struct {
		server    int
		round     int64
		signature []byte
		err       error
	}
	answers := make(chan answer)
	begun, ended := 0, 0
	begin := func() {
		if begun == len(h.servers) || signature != nil {
			return
		}
		i := (first + begun) % len(h.servers)
		begun++
		go func() {
			r, s, err := h.get(ctx, h.servers[i], round)
			answers <- answer{i, r, s, err}
		}()
	}
	begin()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for ended < begun {
		select {
		case <-timer.C:
			begin()
			timer.Reset(pause)
		case a := <-answers:
			ended++
			switch {
			case signature != nil: // the ones that were cancelled
			case a.err != nil:
				a.err = fmt.Errorf("%s: %w", h.servers[a.server].url, a.err)
				if err != nil {
					a.err = fmt.Errorf("%w; %w", err, a.err)
				}
				err = a.err
				begin()
			default:
				got, signature = a.round, a.signature
				cancel()
				h.mu.Lock()
				h.first = a.server
				h.mu.Unlock()
			}
		}
	}
	if signature == nil {
		return 0, nil, err
	}
	return got, signature, nil
}

// latest is what get asks for where any round will do.
const latest = 0

// get asks one server for a round and checks its answer.
func (h *HTTP) get(ctx context.Context, s *server, round int64) (got int64, signature []byte, err error) {
	result, err := s.client.Get(ctx, uint64(round))
	switch {
	case err != nil:
		ordinary, err := notYet(err)
		if !ordinary {
			h.wrong(s, round, err)
		}
		return 0, nil, err
	case round == latest:
		got = int64(min(result.GetRound(), math.MaxInt64))
	case result.GetRound() != uint64(round):
		err = fmt.Errorf("it answers with round %d", result.GetRound())
		h.wrong(s, round, err)
		return 0, nil, err
	default:
		got = round
	}
	signature = result.GetSignature()
	if _, err := h.chain.Verify(got, signature); err != nil {
		h.wrong(s, round, err)
		return 0, nil, err
	}
	return got, signature, nil
}

// wrong remembers a wrong answer.
func (h *HTTP) wrong(s *server, round int64, err error) {
	what := err.Error()
	what = what[:min(len(what), 300)]
	h.mu.Lock()
	h.health.Wrong++
	h.health.LastWrong = fmt.Sprintf("%s, round %d: %s", s.url, round, what)
	again := s.wrong == what
	s.wrong = what
	h.mu.Unlock()
	if !again { // a server that goes on like this does not fill the log
		h.log.Warn("a beacon's server gave a wrong answer", "server", s.url, "round", round, "err", what)
	}
}

// Newest returns the round that is due now by this machine's clock, or one of the three before it if
// that is not out yet: whoever fixes a coming round by it must see that its time is to come. Newest
// also asks for a round that must not be out. The error wraps ErrClock if that is out, and ErrOverdue
// if none of the four is.
func (h *HTTP) Newest(ctx context.Context) (round int64, signature []byte, err error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return 0, nil, fmt.Errorf("waiting to ask for the newest round of chain %s: %w", h.Chain().Name, ctx.Err())
	}
	now := h.now()
	due, err := h.Chain().RoundAt(now.UnixMilli())
	if err != nil {
		return 0, nil, err
	}
	h.mu.Lock()
	known, closed, failed := h.recent[due], h.closed, h.failed
	h.mu.Unlock()
	switch age := now.Sub(failed.at); {
	case closed:
		return 0, nil, ErrClosed
	case known != nil && h.proven == due:
		return due, bytes.Clone(known), nil
	case failed.err != nil && age >= 0 && age < failureAge:
		return 0, nil, failed.err
	}
	inner, cancel := context.WithTimeout(ctx, newestLimit)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	round, signature, err = h.newest(inner, now, due)
	switch {
	case err == nil:
		if round == due {
			h.proven = due
		}
	case h.life.Err() != nil:
		return 0, nil, ErrClosed
	case ctx.Err() != nil:
		return 0, nil, fmt.Errorf("asking for the newest round of chain %s: %w", h.Chain().Name, ctx.Err())
	default:
		h.mu.Lock()
		h.failed.at, h.failed.err = now, err
		h.mu.Unlock()
	}
	return round, signature, err
}

func (h *HTTP) newest(ctx context.Context, now time.Time, due int64) (int64, []byte, error) {
	info := h.Chain()
	future, err := info.RoundAt(now.Add(maxSkew).UnixMilli())
	if err != nil {
		return 0, nil, err
	}
	future++
	asked, cancel := context.WithCancel(ctx)
	defer cancel()
	out := make(chan bool, 1)
	go func() {
		_, _, err := h.question(asked, future, patience, 0)
		out <- err == nil
	}()
	round, signature, why := due, []byte(nil), error(nil)
	for ; round > max(0, due-newestRounds); round-- {
		if signature, err = h.ask(ctx, round, patience); err == nil {
			break
		}
		if why == nil {
			why = err
		}
	}
	timer := time.AfterFunc(hedge, cancel)
	early := <-out
	timer.Stop()
	if early {
		at, err := info.TimeOf(future)
		if err != nil {
			return 0, nil, err
		}
		return 0, nil, fmt.Errorf("%w: round %d of chain %s is out already, and by this clock it is due in %v", ErrClock, future, info.Name, time.UnixMilli(at).Sub(now))
	}
	if signature != nil {
		return round, signature, nil
	}
	// The latest that the servers show serves to say what is wrong, and nothing else.
	err = fmt.Errorf("%w: round %d of chain %s is due, and neither it nor the %d before it is out", ErrOverdue, due, info.Name, due-round-1)
	if r, s, e := h.question(ctx, latest, patience, 0); e == nil {
		h.remember(r, s)
		at, e := info.TimeOf(r)
		if e != nil {
			return 0, nil, e
		}
		err = fmt.Errorf("%w; the servers show round %d, which was due %v ago: either the network has halted, or this machine's clock is ahead", err, r, now.Sub(time.UnixMilli(at)))
	}
	return 0, nil, fmt.Errorf("%w: %w", err, why)
}

// Health asks for the newest round, unless that has just been done, and says how it went.
func (h *HTTP) Health(ctx context.Context) Health {
	_, _, err := h.Newest(ctx)
	h.mu.Lock()
	s := h.health
	h.mu.Unlock()
	s.Err = err
	now, info := h.now(), h.Chain()
	s.Due, _ = info.RoundAt(now.UnixMilli())
	if at, err := info.TimeOf(s.Round + 1); err == nil {
		s.Late = max(0, now.Sub(time.UnixMilli(at)))
	}
	return s
}

// keyOf returns a chain's key as drand's client has it.
func keyOf(info beacon.Info) (kyber.Point, error) {
	// A signature of a chained scheme says nothing without the one before it, which a Source does not give.
	if info.Scheme != beacon.UnchainedG1 {
		return nil, fmt.Errorf("chain %s has scheme %s, and only %s is supported", info.Name, info.Scheme, beacon.UnchainedG1)
	}
	scheme, err := crypto.SchemeFromName(string(info.Scheme))
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", info.Name, err)
	}
	b, err := hex.DecodeString(info.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", info.Name, err)
	}
	key := scheme.KeyGroup.Point()
	if err := key.UnmarshalBinary(b); err != nil {
		return nil, fmt.Errorf("chain %s: %w", info.Name, err)
	}
	return key, nil
}
