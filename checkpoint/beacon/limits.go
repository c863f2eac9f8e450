package beacon

import "ludger/ledger/canon"

// Bounds.
const (
	MaxName    = 64              // bytes of a chain's name
	MaxPeriod  = 86_400          // seconds between rounds
	MaxSeconds = maxMilli / 1000 // genesis
	MaxText    = 1 << 10         // bytes of a chain's JSON form; the longest there is has about 600

	maxMilli = canon.MaxInt // times in Unix milliseconds
)
