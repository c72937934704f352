package transport

import (
	"errors"
	"net"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/fsm/env"
)

// TestHelloRoundTrip: a hello is read as it was sent, whatever its fields hold.
func TestHelloRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 100, 400)
		sent := Hello{text.Draw(t, "cluster"), text.Draw(t, "node"), text.Draw(t, "disk"), text.Draw(t, "to"), text.Draw(t, "arch"), env.Level(rapid.Uint32().Draw(t, "level")), []Process{}, false}
		for range rapid.IntRange(0, 64).Draw(t, "processes") {
			sent.Processes = append(sent.Processes, Process{rapid.Uint64().Draw(t, "boot"), rapid.StringN(0, 16, 16).Draw(t, "process")})
		}
		here, there := net.Pipe()
		defer there.Close()
		go func() {
			defer here.Close()
			_, _ = here.Write(sent.encode(ForRPC)) // a short write shows on the other side
		}()
		got, what, err := readHello(there)
		if err != nil || what != ForRPC || !reflect.DeepEqual(got, sent) {
			t.Fatalf("%+v arrived as %+v, %q, %v", sent, got, what, err)
		}
	})
}

// TestRejectionRoundTrip: the caller gets the reason, and can tell a removal, an older copy and a copy of a directory in use apart.
func TestRejectionRoundTrip(t *testing.T) {
	for _, c := range []struct {
		why                         error
		removed, rolledBack, copied bool
	}{
		{errors.New("another cluster"), false, false, false}, {ErrRemoved, true, false, false}, {errors.Join(ErrRejected, ErrRemoved), true, false, false},
		{errors.Join(ErrRejected, ErrRolledBack), false, true, false}, {errors.Join(ErrRejected, ErrCopied), false, false, true},
	} {
		here, there := net.Pipe()
		go func() {
			defer here.Close()
			writeRejection(here, c.why)
		}()
		err := readAccepted(there)
		if !errors.Is(err, ErrRejected) || errors.Is(err, ErrRemoved) != c.removed || errors.Is(err, ErrRolledBack) != c.rolledBack || errors.Is(err, ErrCopied) != c.copied {
			t.Errorf("%v arrived as %v", c.why, err)
		}
		there.Close()
	}
}
