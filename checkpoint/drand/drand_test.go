package drand

import (
	"context"
	"errors"
	"testing"
	"time"

	"ludger/checkpoint/beacon"
)

func TestLocal(t *testing.T) {
	genesis := time.Now().Unix() - 100
	l, err := NewLocal([32]byte{1}, genesis)
	if err != nil {
		t.Fatal(err)
	}
	if info := l.Chain(); !info.Test || info.Period != 1 || info.Genesis != genesis {
		t.Errorf("chain %+v", info)
	}
	chain, err := beacon.NewChain(l.Chain())
	if err != nil {
		t.Fatal(err)
	}
	newest, signature, err := l.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chain.Verify(newest, signature); err != nil || newest < 100 || newest > 103 {
		t.Errorf("round %d: %v", newest, err)
	}
	next, err := l.Round(t.Context(), newest+1)
	if at, _ := l.Chain().TimeOf(newest + 1); err != nil || time.Now().UnixMilli() < at {
		t.Errorf("round %d is given before its time, %v", newest+1, err)
	}
	if _, err := chain.Verify(newest+1, next); err != nil {
		t.Error(err)
	}
	again, err := NewLocal([32]byte{1}, genesis)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := again.Round(t.Context(), newest); err != nil || string(same) != string(signature) {
		t.Errorf("another signature after a restart: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Round(ctx, newest+1000); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that was given up: %v", err)
	}
	if _, err := l.Round(t.Context(), 0); err == nil {
		t.Error("round 0 is given")
	}
}
