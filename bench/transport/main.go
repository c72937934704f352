package main

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hashicorp/yamux"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"

	"github.com/trireme-dev/trireme/cluster/transport"
)

func main() {
	seconds := flag.Float64("seconds", 2, "measured time of a turn")
	rounds := flag.Int("rounds", 3, "turns of each subject")
	flag.Parse()
	if err := compare(time.Duration(*seconds*float64(time.Second)), *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "transport:", err)
		os.Exit(1)
	}
}

// A subject makes what one caller calls; stop ends both sides.
type subject struct {
	name  string
	start func() (caller func() (call func([]byte) error, err error), stop func(), err error)
}

func compare(d time.Duration, rounds int) error {
	subjects := []subject{{"trireme", startOurs}, {"yamux", startYamux}, {"gRPC", startGRPC}}
	fmt.Println("| callers | bytes | subject | calls/s | processor time of a call |\n|---|---|---|---|---|")
	for _, size := range []int{128, 16 << 10} {
		for _, callers := range []int{1, 16, 64} {
			rates, costs := make([][]float64, len(subjects)), make([][]float64, len(subjects))
			for range rounds {
				for i, s := range subjects {
					rate, cost, err := turn(s, callers, size, d)
					if err != nil {
						return fmt.Errorf("%s: %w", s.name, err)
					}
					rates[i], costs[i] = append(rates[i], rate), append(costs[i], cost)
				}
			}
			for i, s := range subjects {
				fmt.Printf("| %d | %d | %s | %.0f | %.1f us |\n", callers, size, s.name, median(rates[i]), median(costs[i]))
			}
		}
	}
	return nil
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// turn returns calls a second and processor microseconds a call.
func turn(s subject, callers, size int, d time.Duration) (rate, cost float64, err error) {
	caller, stop, err := s.start()
	if err != nil {
		return 0, 0, err
	}
	defer stop()
	var done atomic.Int64
	var over atomic.Bool
	var wg sync.WaitGroup
	failed := make(chan error, callers)
	payload := make([]byte, size)
	for range callers {
		call, err := caller()
		if err != nil {
			return 0, 0, err
		}
		wg.Go(func() {
			for !over.Load() {
				if err := call(payload); err != nil {
					failed <- err
					return
				}
				done.Add(1)
			}
		})
	}
	time.Sleep(d / 5)
	calls, used, begin := done.Load(), processorTime(), time.Now()
	time.Sleep(d)
	calls, used = done.Load()-calls, processorTime()-used
	took := time.Since(begin)
	over.Store(true)
	wg.Wait()
	select {
	case err := <-failed:
		return 0, 0, err
	default:
	}
	return float64(calls) / took.Seconds(), float64(used.Microseconds()) / float64(max(calls, 1)), nil
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// echo is a node that answers every call with its payload.
type echo struct{ name string }

func (e echo) Hello() transport.Hello {
	return transport.Hello{Cluster: "bench", Node: e.name, Disk: e.name}
}
func (echo) Expected(string) string                         { return "" }
func (echo) Admit(transport.Hello, transport.Purpose) error { return nil }
func (echo) Verify(string, time.Duration) error             { return nil }
func (echo) Excluded(error)                                 {}
func (echo) Rejected(net.Addr, error)                       {}
func (echo) Handle(_ transport.Hello, _ transport.Kind, p []byte, answer func([]byte, error)) {
	answer(p, nil)
}

// callKind is a kind of call that no node has.
const callKind = transport.Failed + 1

func startOurs() (func() (func([]byte) error, error), func(), error) {
	server, err := transport.Listen(transport.Config{Bind: "127.0.0.1:0", Dial: net.DialTimeout}, echo{"n1"})
	if err != nil {
		return nil, nil, err
	}
	server.Start()
	client := transport.DialOnly(transport.Config{Dial: net.DialTimeout}, echo{"n2"})
	client.Start()
	pool := transport.NewPool(client)
	stop := func() {
		pool.Close()
		client.Close()
		server.Close()
		client.Wait()
		server.Wait()
	}
	addr := server.Advertise()
	return func() (func([]byte) error, error) {
		return func(p []byte) error {
			b, err := pool.Ask(context.Background(), addr, callKind, p)
			return whole(b, p, err)
		}, nil
	}, stop, nil
}

func whole(got, sent []byte, err error) error {
	if err == nil && len(got) != len(sent) {
		return fmt.Errorf("%d bytes came back of %d", len(got), len(sent))
	}
	return err
}

func startYamux() (func() (func([]byte) error, error), func(), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	config := yamux.DefaultConfig()
	config.LogOutput = io.Discard
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s, err := yamux.Server(c, config)
		for err == nil {
			var stream net.Conn
			if stream, err = s.Accept(); err == nil {
				go echoFrames(stream)
			}
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	s, err := yamux.Client(c, config)
	if err != nil {
		return nil, nil, errors.Join(err, c.Close(), l.Close())
	}
	return func() (func([]byte) error, error) {
		stream, err := s.Open()
		if err != nil {
			return nil, err
		}
		var buffer []byte
		return func(p []byte) error {
			if err := writeFrame(stream, &buffer, p); err != nil {
				return err
			}
			b, err := readFrame(stream)
			return whole(b, p, err)
		}, nil
	}, func() { s.Close(); l.Close() }, nil
}

func echoFrames(stream net.Conn) {
	var buffer []byte
	for {
		b, err := readFrame(stream)
		if err == nil {
			err = writeFrame(stream, &buffer, b)
		}
		if err != nil {
			return
		}
	}
}

func writeFrame(w io.Writer, buffer *[]byte, p []byte) error {
	*buffer = append(binary.BigEndian.AppendUint32((*buffer)[:0], uint32(len(p))), p...)
	_, err := w.Write(*buffer)
	return err
}

func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(r, b)
	return b, err
}

// raw passes bytes on as they are, so that gRPC encodes no message.
type raw struct{}

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func (raw) Name() string { return "raw" }

func startGRPC() (func() (func([]byte) error, error), func(), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(raw{}))
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "bench", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Echo", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var p []byte
			err := decode(&p)
			return &p, err
		},
	}}}, struct{}{})
	go server.Serve(l)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{})))
	if err != nil {
		server.Stop()
		return nil, nil, err
	}
	return func() (func([]byte) error, error) {
		return func(p []byte) error {
			var b []byte
			err := conn.Invoke(context.Background(), "/bench/Echo", &p, &b)
			return whole(b, p, err)
		}, nil
	}, func() { conn.Close(); server.Stop() }, nil
}
