package demoshop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trireme-dev/trireme/workflow"
)

// Options configures a shop.
type Options struct {
	Node  string // the base URL of the node
	Token string // the node's admin token
	Log   *slog.Logger
}

// Shop starts messages and runs on a node, and receives them.
type Shop struct {
	Options
	url     string
	server  *http.Server
	serving sync.WaitGroup
	client  *http.Client
	app     http.Handler     // the workflows
	runs    *workflow.Client // starts them

	mu      sync.Mutex
	parcels map[string]int // events of parcels that are being packed: how often each was notified in vain
}

// Open listens on the port of loopback that follows the node's, so that what waits in the data directory finds the shop
// again after a restart. If that port is taken, it listens on any.
func Open(o Options) (*Shop, error) {
	listener, err := net.Listen("tcp", nextPort(o.Node))
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("open the demo shop: %w", err)
	}
	s := &Shop{Options: o, url: "http://" + listener.Addr().String(), client: &http.Client{Timeout: requestTimeout}, parcels: map[string]int{}}
	at := workflow.Options{URL: o.Node, Token: o.Token, Unsigned: true, HTTPClient: s.client}
	s.app, s.runs = workflow.Handler(at, s.workflows()...), workflow.NewClient(at)
	s.server = &http.Server{Handler: s.handler(), ReadHeaderTimeout: requestTimeout}
	s.serving.Go(func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			o.Log.Warn("the demo shop receives nothing more", "error", err)
		}
	})
	return s, nil
}

// requestTimeout bounds each request that the shop makes.
const requestTimeout = 10 * time.Second

// nextPort returns the address after a node's.
func nextPort(node string) string {
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(node, "http://"))
	n, _ := strconv.Atoi(port) // 0 is any port
	return net.JoinHostPort("127.0.0.1", strconv.Itoa((n+1)%(1<<16)))
}

// URL returns the base URL of the shop.
func (s *Shop) URL() string { return s.url }

// Close ends the endpoint, and the requests that it is answering.
func (s *Shop) Close() error {
	err := s.server.Close()
	s.serving.Wait()
	s.client.CloseIdleConnections()
	return err
}

// Run takes a few orders each 10 to 20 seconds until ctx ends. It logs a failure, and not those that follow it.
func (s *Shop) Run(ctx context.Context) {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(10*time.Second + rand.N(10*time.Second)):
		}
		err := s.work(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			s.Log.Warn("the demo shop takes no orders", "error", err)
		}
		failing = err != nil
	}
}

// work is one round of Run.
func (s *Shop) work(ctx context.Context) error {
	if err := errors.Join(s.ship(ctx), s.clear(ctx)); err != nil {
		return err
	}
	if busy, err := s.busy(ctx); err != nil || busy {
		return err
	}
	return s.takeOrders(ctx, 1+rand.IntN(2))
}

// post sends a request to the node and returns its answer.
func (s *Shop) post(ctx context.Context, path string, header map[string]string, body string) ([]byte, error) {
	return s.ask(ctx, http.MethodPost, path, header, body)
}

func (s *Shop) ask(ctx context.Context, method, path string, header map[string]string, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.Node+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range header { // unordered: headers are
		r.Header.Set(name, value)
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = &refusal{path, answer.StatusCode, string(bytes.TrimSpace(text))}
	}
	return text, err
}

// refusal is an answer of the node that is not the wanted one.
type refusal struct {
	path   string
	status int
	text   string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s answers %d %s", r.path, r.status, r.text) }
