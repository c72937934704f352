package yield

import (
	"net"
	"runtime"
	"sync"
	"testing"
)

// A goroutine that waits for a connection runs while another one computes and yields, on the only processor.
func TestProcessorServesTheNetwork(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	answered := make(chan error, 1)
	go func() {
		_, err := server.Read(make([]byte, 1))
		answered <- err
	}()
	runtime.Gosched() // it waits now
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	const most = 3 // turns: the event of the connection and ours may be seen in either order
	for range most {
		Processor()
		select {
		case err := <-answered:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
	t.Fatalf("the connection was not served within %d turns", most)
}

// Every caller returns, however many there are.
func TestProcessorReturns(t *testing.T) {
	var wg sync.WaitGroup
	for range 3 * cap(waiters) {
		wg.Go(func() {
			for range 1000 {
				Processor()
			}
		})
	}
	wg.Wait()
	if n := len(waiters); n != cap(waiters) {
		t.Errorf("%d waiters are left, want %d", n, cap(waiters))
	}
}

func BenchmarkProcessor(b *testing.B) {
	for b.Loop() {
		Processor()
	}
}
