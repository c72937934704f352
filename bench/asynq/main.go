package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

func main() {
	addr := flag.String("redis", "", "address of the redis-server")
	tasks := flag.Int("tasks", 6400, "tasks")
	parallel := flag.Int("parallel", 64, "producers, and workers")
	flag.Parse()
	perSecond, err := run(*addr, *tasks, *parallel)
	if err != nil {
		fmt.Fprintln(os.Stderr, "asynq:", err)
		os.Exit(1)
	}
	fmt.Printf("%.1f\n", perSecond)
}

// run delivers tasks and returns how many a second.
func run(addr string, tasks, parallel int) (float64, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	sink := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })}
	go sink.Serve(listener)
	defer sink.Close()
	tasks -= tasks % parallel
	all := make(chan struct{})
	var delivered atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: parallel}}
	url := "http://" + listener.Addr().String() + "/"
	workers := asynq.NewServer(asynq.RedisClientOpt{Addr: addr}, asynq.Config{Concurrency: parallel, LogLevel: asynq.FatalLevel, TaskCheckInterval: 100 * time.Millisecond})
	err = workers.Start(asynq.HandlerFunc(func(_ context.Context, t *asynq.Task) error {
		answer, err := client.Post(url, "application/octet-stream", bytes.NewReader(t.Payload()))
		if err != nil {
			return err
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if delivered.Add(1) == int64(tasks) {
			close(all)
		}
		return nil
	}))
	if err != nil {
		return 0, err
	}
	defer workers.Shutdown()
	begin := time.Now()
	if err := produce(addr, tasks, parallel); err != nil {
		return 0, err
	}
	select {
	case <-all:
	case <-time.After(2 * time.Minute):
		return 0, fmt.Errorf("%d of %d tasks were delivered", delivered.Load(), tasks)
	}
	return float64(tasks) / time.Since(begin).Seconds(), nil
}

// produce enqueues the tasks.
func produce(addr string, tasks, parallel int) error {
	store := redis.NewClient(&redis.Options{Addr: addr, PoolSize: parallel})
	defer store.Close()
	client := asynq.NewClientFromRedisClient(store)
	body := bytes.Repeat([]byte("m"), 64)
	failed := make(chan error, parallel)
	var producers sync.WaitGroup
	for range parallel {
		producers.Go(func() {
			for range tasks / parallel {
				if _, err := client.Enqueue(asynq.NewTask("deliver", body), asynq.MaxRetry(3)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	producers.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
