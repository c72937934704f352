package payload_test

import (
	"bytes"
	"testing"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// elsewhere keeps bytes of at least from bytes.
type elsewhere struct{ from int }

type kept []byte

func (e elsewhere) Keep(b []byte) payload.Kept {
	if len(b) < e.from {
		return nil
	}
	return kept(bytes.Clone(b))
}

func (k kept) Bytes() []byte          { return k }
func (k kept) Len() int               { return len(k) }
func (k kept) Digest() payload.Digest { return payload.DigestOf(k) }

// TestWhereBytesAreMakesNoDifference: payloads of equal bytes have the same bytes, length, digest and form on the wire, with any
// keeper and with none.
func TestWhereBytesAreMakesNoDifference(t *testing.T) {
	for _, n := range []int{0, 1, payload.Apart - 1, payload.Apart, payload.Apart + 1, 70_000} {
		b := bytes.Repeat([]byte{'x'}, n)
		plain := payload.New(b, nil)
		for _, k := range []payload.Keeper{elsewhere{payload.Apart}, elsewhere{50_000}, elsewhere{1 << 20}} {
			p := payload.New(b, k)
			if p.Len() != n || !bytes.Equal(p.Bytes(), b) || p.Digest() != payload.DigestOf(b) || p.Uncounted() != plain.Uncounted() {
				t.Errorf("%d bytes are others", n)
			}
			for _, digests := range []bool{false, true} {
				var one, two wire.Codec
				one.Writer().Digests, two.Writer().Digests = digests, digests
				p.Field(&one)
				plain.Field(&two)
				if !bytes.Equal(one.B(), two.B()) {
					t.Errorf("%d bytes are written in two forms", n)
				}
				if whole := !digests || n < payload.Apart; whole != (len(one.B()) >= n) && n > 0 {
					t.Errorf("%d bytes, digests %v: %d were written", n, digests, len(one.B()))
				}
				if digests {
					continue
				}
				var back payload.Payload
				c := wire.Decoder(one.B())
				if back.Field(c); c.Done() != nil || !bytes.Equal(back.Bytes(), b) {
					t.Errorf("%d bytes are not read back", n)
				}
			}
		}
	}
}

// TestShortPayloadsAreInMemory: a keeper is not asked for what is shorter than Apart.
func TestShortPayloadsAreInMemory(t *testing.T) {
	asked := 0
	k := asks{&asked}
	payload.New(make([]byte, payload.Apart-1), k)
	if payload.New(make([]byte, payload.Apart), k); asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

type asks struct{ n *int }

func (a asks) Keep([]byte) payload.Kept { *a.n++; return nil }

// TestUncounted: a payload that is apart counts by a sixteenth.
func TestUncounted(t *testing.T) {
	for n, want := range map[int]int64{0: 0, payload.Apart - 1: 0, payload.Apart: 960, 4096: 3840, 1 << 20: 983040} {
		if got := payload.Uncounted(n); got != want {
			t.Errorf("%d of %d bytes don't count, not %d", got, n, want)
		}
	}
}
