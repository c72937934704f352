package queue

import (
	"testing"
	"unsafe"
)

// TestRecordSizes checks that the records of which there are many fill a size class of the allocator: one word more takes a
// waiting message 16 bytes.
func TestRecordSizes(t *testing.T) {
	for _, c := range []struct {
		name       string
		have, want uintptr
	}{
		{"Message", unsafe.Sizeof(Message{}), 112},
		{"Event", unsafe.Sizeof(Event{}), 48},
	} {
		if c.have != c.want {
			t.Errorf("a %s has %d bytes, want %d", c.name, c.have, c.want)
		}
	}
}
