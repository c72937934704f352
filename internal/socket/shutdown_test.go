package socket_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/internal/socket"
)

// shutdownChild makes the test binary the process of which TestShutdownAll sees the other end.
const shutdownChild = "SOCKET_SHUTDOWN_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(shutdownChild) != "" {
		if err := childThatStays(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childThatStays serves two connections, closes no socket, and goes on until its input ends.
func childThatStays() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	var conns [2]net.Conn
	for i := range conns {
		if conns[i], err = l.Accept(); err != nil {
			return err
		}
		if _, err := conns[i].Write([]byte("+")); err != nil {
			return err
		}
	}
	go l.Accept()
	socket.ShutdownAll()
	_, err = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(conns)
	return err
}

// TestShutdownAll has connections and the listener of a process end that does not end itself.
func TestShutdownAll(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux keeps the sockets of a process that has ended")
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), shutdownChild+"=1")
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stdin.Close()
		if err := child.Wait(); err != nil {
			t.Errorf("the other process: %v", err)
		}
	}()
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr = strings.TrimSpace(addr)
	for range 2 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if read, err := io.ReadAll(c); err != nil || string(read) != "+" {
				t.Errorf("read %q: %v", read, err)
			}
			if late, err := net.Dial("tcp", addr); err == nil {
				late.Close()
				t.Error("the listener still takes connections")
			}
		}()
	}
}
