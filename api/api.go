// Package api serves a hall over HTTP: arenas append matches, everybody reads them and the log.
//
//	s, err := api.New(api.Config{Arena: a, Log: log, Sequencer: seq, Publisher: pub, Signer: signer})
//	err = s.Serve(ctx, listener) // until ctx ends, then gracefully
//
// The shapes of requests and answers are those of package wire. The routes:
//
//	POST /api/ledger/matches               an admitted arena opens a match
//	POST /api/ledger/matches/:id/events    and appends to it
//	POST /api/games/:id/ack                a seat acknowledges the opening itself
//	GET  /api/games/:id                    what anyone may know of a match now
//	GET  /api/games/:id/events             its events, ?from= a seq; with Accept: text/event-stream
//	                                       as they come (see stream.go)
//	GET  /api/games/:id/replay             its bundle, for auditors
//	GET  /api/checkpoint                   the newest published head
//	GET  /log/checkpoint, /log/tile/…      the log as C2SP tlog-tiles
//	GET  /healthz, /readyz                 the process runs; it can append and publish
//
// Every answer that refuses is a problem of RFC 9457, whatever refused; problem.go holds the one table
// of them. The exceptions are what net/http itself cannot read as a request, and answers in plain text.
//
// # What a stranger can cost
//
// A request has to arrive within seconds, and what is read of large bodies is bounded for all of them
// together, so that slow and half-open requests hold up nobody. The signature of an arena is checked
// before anything of a body is parsed. Once an append has begun it is finished, even if its caller is
// gone. Streams are bounded in number and end when their reader stops reading.
//
// Nothing here limits how many connections one address may have; a proxy in front does.
package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"ludger/api/arena"
	"ludger/checkpoint"
	"ludger/checkpoint/publish"
	"ludger/ledger"
	"ludger/ledger/sequencer"
)

// Config is what a server works with. The fields of the first group are needed.
type Config struct {
	Arena     *arena.Arena
	Log       ledger.Log           // the arena's; it is only read
	Sequencer *sequencer.Sequencer // the arena's; it is only asked whether it runs
	Publisher *publish.Publisher
	Signer    *checkpoint.Signer // signs receipts; the log's key

	Logger *slog.Logger // one line for each request; nil is slog.Default

	PublishEvery time.Duration // how often a log that grew is published; 0 is 5 s
	KeepAlive    time.Duration // how often a silent stream says that it lives; 0 is 15 s
	ReadTimeout  time.Duration // for a request to arrive whole; 0 is 20 s
	WriteTimeout time.Duration // for an answer to leave, and for each event of a stream; 0 is 30 s
	Work         time.Duration // for what a request asks for; 0 is 10 s
	Grace        time.Duration // for requests to end after a shutdown began; 0 is 10 s
	MaxStreams   int           // streams at a time; 0 is 1000
	MaxBuffered  int64         // bytes of large bodies in memory at a time; 0 is 256 MiB
}

// Bounds that no one has to set.
const (
	headerTimeout = 5 * time.Second // for the head of a request
	idleTimeout   = 60 * time.Second
	maxHeader     = 16 << 10 // bytes
	large         = 1 << 20  // bytes of an answer that gets time by its size
	slowest       = 64 << 10 // bytes a second of the slowest reader of such an answer
)

func (c *Config) defaults() {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.PublishEvery, 5 * time.Second}, {&c.KeepAlive, 15 * time.Second}, {&c.ReadTimeout, 20 * time.Second},
		{&c.WriteTimeout, 30 * time.Second}, {&c.Work, 10 * time.Second}, {&c.Grace, 10 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.MaxStreams == 0 {
		c.MaxStreams = 1000
	}
	if c.MaxBuffered == 0 {
		c.MaxBuffered = 256 << 20
	}
}

// A Server is a hall's HTTP side. It is safe for concurrent use.
type Server struct {
	Config
	echo     *echo.Echo
	key      string                 // the log's verifier key
	arenas   sync.Map               // name to *sign.Verifier of admitted arenas, whose keys never change
	buffered atomic.Int64           // bytes of large bodies in memory
	streams  chan struct{}          // holds one value for each stream
	sealed   chan struct{}          // a match was sealed: publish
	closing  chan struct{}          // closed when a shutdown begins
	failing  atomic.Pointer[string] // why the newest publication failed; nil if it did not
}

// New returns a server that is not serving yet.
func New(c Config) (*Server, error) {
	if c.Arena == nil || c.Log == nil || c.Sequencer == nil || c.Publisher == nil || c.Signer == nil {
		return nil, errors.New("api.New: arena, log, sequencer, publisher and signer are needed")
	}
	c.defaults()
	s := &Server{
		Config:  c,
		key:     c.Signer.Verifier().String(),
		streams: make(chan struct{}, c.MaxStreams),
		sealed:  make(chan struct{}, 1),
		closing: make(chan struct{}),
	}
	e := echo.New()
	e.Logger.SetOutput(io.Discard) // everything is logged by logged
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = s.refuse
	e.Pre(s.logged) // before the router, so that what it refuses is logged too
	s.routes(e)
	s.echo = e
	return s, nil
}

func (s *Server) routes(e *echo.Echo) {
	e.POST("/api/ledger/matches", s.open)
	e.POST("/api/ledger/matches/:id/events", s.append)
	e.POST("/api/games/:id/ack", s.ack)
	read := []string{http.MethodGet, http.MethodHead}
	e.Match(read, "/api/games/:id", s.game)
	e.GET("/api/games/:id/events", s.events)
	e.Match(read, "/api/games/:id/replay", s.replay)
	e.Match(read, "/api/checkpoint", s.checkpoint)
	e.Match(read, "/log/checkpoint", s.note)
	e.Match(read, "/log/tile/*", s.tile)
	e.Match(read, "/healthz", s.health)
	e.Match(read, "/readyz", s.ready)
}

// ServeHTTP answers one request. Serve does more: it bounds time, publishes, and ends gracefully.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// Serve answers requests until ctx ends, and publishes in the background. Then it accepts no more,
// ends the streams, lets requests finish within Grace, publishes what was added, and returns nil. It
// is called once, and closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: min(headerTimeout, s.ReadTimeout),
		ReadTimeout:       s.ReadTimeout,
		WriteTimeout:      s.WriteTimeout + s.Work,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug), // half-open connections and the like
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var tasks sync.WaitGroup
	tasks.Go(func() { s.publishing(background) })
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	var err error
	select {
	case err = <-ended: // the listener failed
		close(s.closing)
	case <-ctx.Done():
		close(s.closing)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Grace)
		defer cancel()
		if server.Shutdown(grace) != nil { // requests are left that do not end
			server.Close()
		}
		<-ended
	}
	stop()
	tasks.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Work)
	defer cancel()
	if _, perr := s.Publisher.Publish(last); perr != nil {
		err = errors.Join(err, perr)
	}
	return err
}

// publishing publishes when a match was sealed, and every now and then.
func (s *Server) publishing(ctx context.Context) {
	tick := time.NewTicker(s.PublishEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.sealed:
		case <-tick.C:
		}
		s.publish(ctx)
	}
}

// publish signs the log's head of now, and notes whether that worked.
func (s *Server) publish(ctx context.Context) error {
	_, err := s.Publisher.Publish(ctx)
	if ctx.Err() != nil {
		return err
	}
	if err == nil {
		s.failing.Store(nil)
		return nil
	}
	reason := err.Error()
	if before := s.failing.Swap(&reason); before == nil || *before != reason { // once, not every five seconds
		s.Logger.Error("publishing failed", "error", err)
	}
	return err
}
