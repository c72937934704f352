package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/certs"
)

// given is a connection whose other side has sent some bytes and reads what it gets.
type given struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func (g *given) Read(b []byte) (int, error)       { return g.in.Read(b) }
func (g *given) Write(b []byte) (int, error)      { return g.out.Write(b) }
func (g *given) Close() error                     { return nil }
func (g *given) RemoteAddr() net.Addr             { return advertised("stranger:1") }
func (g *given) SetDeadline(time.Time) error      { return nil }
func (g *given) SetReadDeadline(time.Time) error  { return nil }
func (g *given) SetWriteDeadline(time.Time) error { return nil }

func sent(b []byte) *given { return &given{in: bytes.NewReader(b)} }

// judge counts the callers that it is asked about.
type judge struct {
	silent
	asked *int
}

func (j judge) Admit(Hello, Purpose) error { *j.asked++; return nil }

// FuzzHello: the beginning of a connection on the cluster port. Without TLS a hello is read as it was sent, and nothing
// is answered before it is judged. With TLS no caller is judged without a certificate, and bytes that are no handshake
// get no answer.
func FuzzHello(f *testing.F) {
	known := Hello{Cluster: "c", Node: "n2", Disk: "d", To: "n1", Arch: "amd64", Level: 2, Processes: []Process{{1, "a"}, {2, "b"}}}
	f.Add(known.encode(ForRPC))
	f.Add(known.encode(ForWatch))
	f.Add(known.encode('X'))
	f.Add([]byte(Magic + "P\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte(Magic + "R\x05\x01c\x01n\x01d"))
	f.Add([]byte("\x16\x03\x01\x00\x05\x01\x00\x00\x01\x03"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	secrets, err := certs.ParseSecrets(certs.NewSecret())
	if err != nil {
		f.Fatal(err)
	}
	authority, pair, err := certs.FromSecrets(secrets, "n1", slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		asked := 0
		plain := newMux(Config{}, judge{asked: &asked}, nil)
		c := sent(b)
		_, from, what, err := plain.acceptHandshake(c)
		if (err == nil) != (asked == 1) || c.out.Len() > 0 {
			t.Fatalf("judged %d times, %v, answered %q", asked, err, c.out.Bytes())
		}
		if err == nil {
			again, purpose, err := readHello(sent(from.encode(what)))
			if err != nil || purpose != what || !sameHello(again, from) {
				t.Fatalf("%+v is %+v when it is sent on, %v", from, again, err)
			}
		}
		asked = 0
		secure := newMux(Config{Security: &Security{Authority: authority, Pair: pair}}, judge{asked: &asked}, nil)
		c = sent(b)
		if _, _, _, err := secure.acceptHandshake(c); err == nil || asked > 0 {
			t.Fatalf("without a certificate: judged %d times, %v", asked, err)
		}
		if len(b) > 0 && b[0] != recordHandshake && c.out.Len() > 0 {
			t.Fatalf("answered %q", c.out.Bytes())
		}
	})
}

// sameHello compares hellos; nil and empty processes are equal.
func sameHello(a, b Hello) bool {
	if len(a.Processes) == 0 && len(b.Processes) == 0 {
		a.Processes, b.Processes = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// FuzzAccepted: answers of the called node to a hello.
func FuzzAccepted(f *testing.F) {
	f.Add([]byte{accepted})
	f.Add([]byte("\x01\x05other"))
	f.Add([]byte("\x02\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, b []byte) {
		err := readAccepted(sent(b))
		if ok := len(b) > 0 && b[0] == accepted; (err == nil) != ok {
			t.Fatalf("%q: %v", b, err)
		}
		if err != nil && len(err.Error()) > maxReason+200 {
			t.Fatalf("a reason of %d bytes", len(err.Error()))
		}
	})
}

// FuzzFrames: calls on a connection. They are read exactly as they were sent, and a length takes no memory before its
// bytes have come.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03"))
	f.Add([]byte("\x00\x00\x00\x04\x01\x00\x00\x00\x00\x00\x00\x00\x02ab"))
	f.Add([]byte("\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00\x02ab"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, read := bufio.NewReader(bytes.NewReader(b)), 0
		for {
			_, _, payload, err := readFrame(r)
			if cap(payload) > max(2*len(b), payloadStep) {
				t.Fatalf("%d bytes were made room for, %d came", cap(payload), len(b))
			}
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errCallTooLarge) {
					t.Fatal(err)
				}
				return
			}
			if from := read + frameHead; !bytes.Equal(payload, b[from:from+len(payload)]) {
				t.Fatalf("payload %q at %d", payload, from)
			}
			read += frameHead + len(payload)
		}
	})
}
