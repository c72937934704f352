package rdb

import (
	"errors"
	"testing"
)

// TestRefusedPayloads: reading a stand-in has the error for which it stands, where stand-ins are known.
func TestRefusedPayloads(t *testing.T) {
	bounds := Bounds{Room: 1 << 20, Work: 1 << 20, ReadRefused: true}
	for _, want := range []error{ErrPayload, ErrFormat, ErrRoom, ErrWork} {
		if _, _, err := Restore(RefusedPayload(want), 0, bounds); !errors.Is(err, want) {
			t.Errorf("the stand-in of %q: %v", want, err)
		}
		if want == ErrRoom || want == ErrWork {
			if _, _, err := Restore(RefusedPayload(want), 0, Bounds{Room: 1 << 20}); !errors.Is(err, ErrFormat) {
				t.Errorf("the stand-in of %q where there are none: %v", want, err)
			}
			want = ErrFormat
		}
		if _, err := Functions(RefusedPayload(want)); !errors.Is(err, want) {
			t.Errorf("the stand-in of %q for functions: %v", want, err)
		}
	}
}

// restore is Restore within bounds that have room only.
func restore(payload []byte, now, room int64) (Value, error) {
	v, _, err := Restore(payload, now, Bounds{Room: room})
	return v, err
}
