package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	restate "github.com/restatedev/sdk-go"
	"github.com/restatedev/sdk-go/server"
)

// Flow is the service.
type Flow struct{}

// Run is the workflow: three durable steps.
func (Flow) Run(ctx restate.Context, n int) (int, error) {
	for range 3 {
		if _, err := restate.Run(ctx, func(restate.RunContext) (int, error) { return 0, nil }); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func main() {
	admin := flag.String("admin", "", "the server's admin address")
	ingress := flag.String("ingress", "", "the server's ingress address")
	service := flag.String("service", "", "address to serve the workflow at")
	clients := flag.Int("clients", 64, "clients, each with one workflow under way")
	length := flag.Duration("for", 2*time.Second, "counted time")
	warm := flag.Duration("warm", 500*time.Millisecond, "load before counting")
	flag.Parse()
	if err := run(*admin, *ingress, *service, *clients, *warm, *length); err != nil {
		fmt.Fprintln(os.Stderr, "restate:", err)
		os.Exit(1)
	}
}

func run(admin, ingress, service string, clients int, warm, length time.Duration) error {
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	quiet := slog.New(slog.DiscardHandler)
	go func() {
		served <- server.NewRestate().WithLogger(quiet.Handler(), false).Bind(restate.Reflect(Flow{})).Start(ctx, service)
	}()
	defer func() { stop(); <-served }()
	if err := await(service); err != nil {
		return err
	}
	if err := post(http.DefaultClient, admin+"/deployments", fmt.Sprintf(`{"uri":"http://%s","force":true}`, service)); err != nil {
		return err
	}
	took, err := loop(ingress+"/Flow/Run", clients, warm, length)
	if err != nil || len(took) == 0 {
		return fmt.Errorf("%d workflows were measured: %w", len(took), err)
	}
	slices.Sort(took)
	us := func(q float64) float64 { return float64(took[int(q*float64(len(took)-1))]) / 1e3 }
	fmt.Printf("%.2f %.0f %.0f\n", float64(len(took))/length.Seconds(), us(.5), us(.99))
	return nil
}

// await returns when a process listens on the address.
func await(addr string) error {
	for limit := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(limit) {
			return err
		}
	}
}

func post(c *http.Client, url, body string) error {
	answer, err := c.Post(url, "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: status %d: %.300s", url, answer.StatusCode, strings.TrimSpace(string(text)))
	}
	return err
}

// loop runs workflows in a closed loop and returns the times of those that began and ended
// in the counted time.
func loop(url string, clients int, warm, length time.Duration) ([]time.Duration, error) {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	from := time.Now().Add(warm)
	until := from.Add(length)
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			var own []time.Duration
			for time.Now().Before(until) {
				begin := time.Now()
				if err := post(c, url, "1"); err != nil {
					mu.Lock()
					defer mu.Unlock()
					failed = err
					return
				}
				if end := time.Now(); !begin.Before(from) && !end.After(until) {
					own = append(own, end.Sub(begin))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	group.Wait()
	return all, failed
}
