package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncpool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// place is the address and the password with which a client connects.
type place struct{ addr, password string }

// program has the two parts of a test: before the leader is killed, and afterwards.
type program interface {
	before(context.Context, place) error
	after(context.Context) error
}

var programs = map[string]struct {
	module string
	program
}{
	"rueidis": {"github.com/redis/rueidis", &plain{}},
	"redsync": {"github.com/go-redsync/redsync/v4", &locks{}},
	"asynq":   {"github.com/hibiken/asynq", &tasks{}},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return errors.New("usage: go HOST PORT PASSWORD NAME")
	}
	p, known := programs[args[3]]
	if !known {
		return fmt.Errorf("no program %q", args[3])
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := p.before(ctx, place{args[0] + ":" + args[1], args[2]}); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	fmt.Println(version(p.module))
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	if err := p.after(ctx); err != nil {
		return fmt.Errorf("after: %w", err)
	}
	fmt.Println("ok")
	return nil
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, d := range info.Deps {
		if d.Path == module {
			return strings.TrimPrefix(d.Version, "v")
		}
	}
	return "unknown"
}

// until repeats a check until it holds.
func until(ctx context.Context, what string, check func() bool) error {
	for !check() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// plain has rueidis set, cache on the client's side, and see an invalidation.
type plain struct{ c rueidis.Client }

func (p *plain) before(ctx context.Context, at place) (err error) {
	if p.c, err = rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{at.addr}, Password: at.password, ForceSingleClient: true}); err != nil {
		return err
	}
	return p.c.Do(ctx, p.c.B().Set().Key("rueidis").Value("1").Build()).Error()
}

func (p *plain) after(ctx context.Context) error {
	cached := func() (rueidis.RedisResult, string) {
		r := p.c.DoCache(ctx, p.c.B().Get().Key("rueidis").Cache(), time.Minute)
		text, _ := r.ToString()
		return r, text
	}
	if r, text := cached(); text != "1" {
		return fmt.Errorf("GET: %q, %w", text, r.Error())
	}
	if r, text := cached(); text != "1" || !r.IsCacheHit() {
		return fmt.Errorf("not from the cache: %q, %w", text, r.Error())
	}
	if err := p.c.Do(ctx, p.c.B().Incr().Key("rueidis").Build()).Error(); err != nil {
		return err
	}
	return until(ctx, "the invalidation", func() bool { _, text := cached(); return text == "2" })
}

// locks has redsync take, keep from others, extend and release a lock.
type locks struct {
	c    *goredis.Client
	r    *redsync.Redsync
	held *redsync.Mutex
}

func (l *locks) before(ctx context.Context, at place) error {
	l.c = goredis.NewClient(&goredis.Options{Addr: at.addr, Password: at.password})
	l.r = redsync.New(redsyncpool.NewPool(l.c))
	l.held = l.r.NewMutex("redsync", redsync.WithExpiry(time.Minute))
	return l.held.LockContext(ctx)
}

func (l *locks) after(ctx context.Context) error {
	other := l.r.NewMutex("redsync", redsync.WithTries(1))
	if err := other.LockContext(ctx); err == nil {
		return errors.New("a held lock was taken")
	}
	if ok, err := l.held.ExtendContext(ctx); !ok || err != nil {
		return fmt.Errorf("not extended: %w", err)
	}
	if ok, err := l.held.UnlockContext(ctx); !ok || err != nil {
		return fmt.Errorf("not released: %w", err)
	}
	return other.LockContext(ctx)
}

// tasks has asynq work on tasks from before and after, one of them scheduled.
type tasks struct {
	to     asynq.RedisClientOpt
	client *asynq.Client
	done   atomic.Int32
}

func (t *tasks) before(_ context.Context, at place) error {
	t.to = asynq.RedisClientOpt{Addr: at.addr, Password: at.password}
	t.client = asynq.NewClient(t.to)
	for range 5 {
		if _, err := t.client.Enqueue(asynq.NewTask("mark", nil)); err != nil {
			return err
		}
	}
	_, err := t.client.Enqueue(asynq.NewTask("mark", nil), asynq.ProcessIn(time.Second))
	return err
}

func (t *tasks) after(ctx context.Context) error {
	s := asynq.NewServer(t.to, asynq.Config{Concurrency: 2, LogLevel: asynq.FatalLevel})
	if err := s.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error { t.done.Add(1); return nil })); err != nil {
		return err
	}
	defer s.Shutdown()
	if _, err := t.client.Enqueue(asynq.NewTask("mark", nil)); err != nil {
		return err
	}
	return until(ctx, "all tasks", func() bool { return t.done.Load() == 7 })
}
