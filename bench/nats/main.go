package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	modes := map[string]func([]string) error{"serve": serve, "publish": publish}
	if len(os.Args) < 2 || modes[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "nats: serve or publish is wanted")
		os.Exit(2)
	}
	if err := modes[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "nats:", err)
		os.Exit(1)
	}
}

// serve runs a server until a signal arrives.
func serve(args []string) error {
	o := &server.Options{JetStream: true, SyncAlways: true, NoSigs: true}
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	f.StringVar(&o.ServerName, "name", "", "name of this server")
	f.StringVar(&o.StoreDir, "dir", "", "data directory")
	client := f.String("client", "", "address for clients")
	route := f.String("route", "", "address for the other servers")
	routes := f.String("routes", "", "URLs of all servers' routes")
	if err := f.Parse(args); err != nil {
		return err
	}
	var err, err2 error
	o.Host, o.Port, err = hostPort(*client)
	o.Cluster.Name = "bench"
	o.Cluster.Host, o.Cluster.Port, err2 = hostPort(*route)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	o.Routes = server.RoutesFromStr(*routes)
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.Start()
	defer s.Shutdown()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	return nil
}

func hostPort(addr string) (string, int, error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, err
	}
	port, err := strconv.Atoi(text)
	return host, port, err
}

// connections is the number of connections that the clients share.
const connections = 4

// publish has clients publish, each one message at a time.
func publish(args []string) error {
	f := flag.NewFlagSet("publish", flag.ContinueOnError)
	servers := f.String("servers", "", "URLs of the servers")
	clients := f.Int("clients", 64, "clients")
	length := f.Duration("for", 3*time.Second, "counted time")
	size := f.Int("size", 64, "bytes of a message")
	if err := f.Parse(args); err != nil {
		return err
	}
	var streams []jetstream.JetStream
	for range connections {
		c, err := nats.Connect(*servers)
		if err != nil {
			return err
		}
		defer c.Close()
		js, err := jetstream.New(c)
		if err != nil {
			return err
		}
		streams = append(streams, js)
	}
	ctx := context.Background()
	if err := makeStream(ctx, streams[0]); err != nil {
		return err
	}
	rate, err := load(ctx, streams, *clients, *length, []byte(strings.Repeat("m", *size)))
	if err == nil {
		fmt.Printf("%.1f\n", rate)
	}
	return err
}

// makeStream waits until the cluster takes the stream.
func makeStream(ctx context.Context, js jetstream.JetStream) (err error) {
	for range 100 {
		_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{Name: "M", Subjects: []string{"m.>"}, Replicas: 3, Storage: jetstream.FileStorage})
		if err == nil {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return err
}

// load publishes for a while and returns the acknowledgements a second.
func load(ctx context.Context, streams []jetstream.JetStream, clients int, length time.Duration, message []byte) (float64, error) {
	var counting, over atomic.Bool
	var done atomic.Int64
	failed := make(chan error, clients)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for !over.Load() {
				if _, err := streams[i%len(streams)].Publish(ctx, "m.x", message); err != nil {
					failed <- err
					return
				}
				if counting.Load() {
					done.Add(1)
				}
			}
		})
	}
	time.Sleep(500 * time.Millisecond)
	begin := time.Now()
	counting.Store(true)
	time.Sleep(length)
	counting.Store(false)
	took := time.Since(begin)
	over.Store(true)
	all.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		return float64(done.Load()) / took.Seconds(), nil
	}
}
