package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"

	"ludger/api/wire"
)

// small is how much of a body needs no place in the budget of large ones: with it every honest request
// of ordinary size is read, whoever else sends what.
const small = 64 << 10

// body reads a request's body of at most limit bytes, and its caller calls done when it is through with
// it. Memory follows what has arrived, not what was announced.
func (s *Server) body(r *http.Request, limit int) (data []byte, done func(), err error) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != wire.TypeJSON || r.Header.Get("Content-Encoding") != "" {
		return nil, nil, errType
	}
	tooLarge := fmt.Errorf("%w: at most %d bytes are read here; send fewer events at once", errSize, limit)
	if r.ContentLength > int64(limit) {
		return nil, nil, tooLarge
	}
	size := int64(4 << 10)
	if r.ContentLength > 0 {
		size = min(r.ContentLength+1, small) // one more, to see the end
	}
	held := int64(0)
	done = func() { s.buffered.Add(-held) }
	data = make([]byte, 0, size)
	for {
		n, err := r.Body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if len(data) > limit {
			done()
			return nil, nil, tooLarge
		}
		switch {
		case err == io.EOF:
			return data, done, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			done()
			return nil, nil, errSlow
		case err != nil:
			done()
			return nil, nil, fmt.Errorf("%w: %w", errCut, err)
		}
		if len(data) < cap(data) {
			continue
		}
		size := min(2*int64(cap(data)), int64(limit)+1)
		if size > small {
			more := size - max(held, small)
			if s.buffered.Add(more) > s.MaxBuffered {
				s.buffered.Add(-more)
				done()
				return nil, nil, errBusy
			}
			held += more
		}
		data = append(make([]byte, 0, size), data...)
	}
}
