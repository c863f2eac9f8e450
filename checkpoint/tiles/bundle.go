package tiles

import (
	"encoding/binary"
	"fmt"
)

// MaxEntry is the size of the largest entry that a bundle can hold.
const MaxEntry = 1<<16 - 1

// AppendEntry appends an entry to a bundle: its length as a big-endian uint16, then its bytes.
func AppendEntry(bundle, entry []byte) ([]byte, error) {
	if len(entry) > MaxEntry {
		return nil, fmt.Errorf("entry of %d bytes exceeds %d", len(entry), MaxEntry)
	}
	return append(binary.BigEndian.AppendUint16(bundle, uint16(len(entry))), entry...), nil
}

// ReadBundle returns the entries of a bundle that must hold exactly width of them. They are parts
// of data, not copies.
func ReadBundle(data []byte, width int) ([][]byte, error) {
	if width < 1 || width > Width {
		return nil, fmt.Errorf("a bundle of %d entries cannot be: 1 to %d", width, Width)
	}
	entries := make([][]byte, 0, width)
	rest := data
	for i := range width {
		if len(rest) < 2 {
			return nil, fmt.Errorf("bundle of %d bytes ends before the length of entry %d of %d", len(data), i, width)
		}
		n := int(binary.BigEndian.Uint16(rest))
		if rest = rest[2:]; n > len(rest) {
			return nil, fmt.Errorf("bundle of %d bytes ends inside entry %d of %d: %d bytes announced, %d there", len(data), i, width, n, len(rest))
		}
		entries = append(entries, rest[:n:n])
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes after the last of %d entries", len(rest), width)
	}
	return entries, nil
}
