package drand

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// MaxAnswer is the number of bytes that are read of a server's answer. A beacon has about 300.
const MaxAnswer = 4 << 10

// A transport gives answers that are complete, small and of the server that was asked: drand's client
// reads without bound, follows redirects, and leaves bodies open.
type transport struct {
	base *http.Transport
}

func newTransport() *transport {
	dialer := net.Dialer{Timeout: 3 * time.Second, KeepAlive: 30 * time.Second}
	return &transport{&http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    3 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // what unpacks to more than was sent is not read
		MaxResponseHeaderBytes: 16 << 10,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        90 * time.Second,
	}}
}

// A statusError is an answer with a status other than 200.
type statusError int

func (s statusError) Error() string {
	return fmt.Sprintf("status %d %s", int(s), http.StatusText(int(s)))
}

// A sizeError is an answer that is too long.
type sizeError struct{}

func (sizeError) Error() string { return fmt.Sprintf("answer exceeds %d bytes", MaxAnswer) }

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK { // also every redirect
		return nil, statusError(resp.StatusCode)
	}
	if resp.ContentLength > MaxAnswer {
		return nil, sizeError{}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if len(body) > MaxAnswer {
		return nil, sizeError{}
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// notYet returns what went wrong with a question, and whether that is what a good server shows too
// when it does not have a round or cannot be reached. Everything else is a wrong answer.
func notYet(err error) (bool, error) {
	// The client wraps whatever goes wrong before there is an answer, and repeats the address.
	their, unanswered := errors.AsType[*url.Error](err)
	if unanswered {
		err = their.Err
	}
	if status, ok := errors.AsType[statusError](err); ok {
		return status == http.StatusNotFound || status == http.StatusTooManyRequests || status >= 500, err
	}
	if _, ok := errors.AsType[sizeError](err); ok {
		return false, err
	}
	return unanswered, err
}

// checkURL returns the address of a server as it is written in one way only.
func checkURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "", err
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "", u.Opaque != "":
		return "", fmt.Errorf("%q is not an address of a server such as https://api.drand.sh", s)
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return "", fmt.Errorf("%q has more than a server and a path", u.Redacted())
	}
	for len(u.Path) > 0 && u.Path[len(u.Path)-1] == '/' {
		u.Path = u.Path[:len(u.Path)-1]
	}
	return u.String(), nil
}
