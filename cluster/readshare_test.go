package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/fsm"
)

// mustHold acquires a place, which there has to be at once.
func mustHold(t *testing.T, l *longReads, db string) (release func(replied int64)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // who has to wait fails
	release, err := l.acquire(ctx, db)
	if err != nil {
		t.Fatalf("%s: %v", db, err)
	}
	return release
}

// waiting begins to wait for a place, and returns when it is in the queue.
func waiting(ctx context.Context, l *longReads, db string) (got chan error, release chan func(int64)) {
	got, release = make(chan error, 1), make(chan func(int64), 1)
	before := l.held()
	go func() {
		r, err := l.acquire(ctx, db)
		release <- r
		got <- err
	}()
	for l.held() == before {
	}
	return got, release
}

// TestLongReadsOfADatabase: as many reads of one database run as are allowed, the others wait in their order, and those
// of another database don't wait for them. A read that gives up leaves the queue, and nothing is left behind.
func TestLongReadsOfADatabase(t *testing.T) {
	l := newLongReads(nobody)
	l.most = 2
	first, second := mustHold(t, l, "a"), mustHold(t, l, "a")
	other := mustHold(t, l, "b")
	ctx, cancel := context.WithCancel(context.Background())
	third, thirdRelease := waiting(context.Background(), l, "a")
	impatient, _ := waiting(ctx, l, "a")
	last, lastRelease := waiting(context.Background(), l, "a")
	cancel()
	if err := <-impatient; !errors.Is(err, fsm.ErrReadShare) {
		t.Errorf("who gives up: %v", err)
	}
	if n := l.held(); n != 2 {
		t.Errorf("%d wait", n)
	}
	mustHold(t, l, "b")(0)
	other(0)
	first(0)
	if err := <-third; err != nil {
		t.Error(err)
	}
	select {
	case err := <-last:
		t.Errorf("the last one runs beside two others: %v", err)
	default:
	}
	second(0)
	if err := <-last; err != nil {
		t.Error(err)
	}
	(<-thirdRelease)(0)
	(<-lastRelease)(0)
	if n := len(l.databases); n != 0 || l.held() != 0 {
		t.Errorf("%d databases are left", n)
	}
}

// TestTurnAndEndTogether: a read whose time ends at the moment of its turn passes the turn on.
func TestTurnAndEndTogether(t *testing.T) {
	for range 200 {
		l := newLongReads(nobody)
		l.most = 1
		first := mustHold(t, l, "a")
		ctx, cancel := context.WithCancel(context.Background())
		got, release := waiting(ctx, l, "a")
		done := make(chan struct{})
		go func() {
			cancel()
			close(done)
		}()
		first(0)
		<-done
		if r, err := <-release, <-got; err == nil {
			r(0)
		}
		mustHold(t, l, "a")(0)
		if len(l.databases) != 0 {
			t.Fatal("a place was lost")
		}
	}
}

// nobody says that no other database is active on the node.
func nobody(time.Time, string) bool { return false }

// TestLongReadsRest: while others are active, the place of a long read stays empty for restFactor times as long as it and the writing of its reply take, and not for
// longer than mostRest. Without others, the next one has it at once.
func TestLongReadsRest(t *testing.T) {
	clock, active := time.Unix(1, 0), true
	var rest time.Duration
	var free func()
	l := newLongReads(func(time.Time, string) bool { return active })
	l.most, l.now = 1, func() time.Time { return clock }
	l.after = func(d time.Duration, f func()) { rest, free = d, f }
	next := func() func(int64) {
		t.Helper()
		release, err := l.acquire(t.Context(), "hog")
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	for _, c := range []struct {
		took    time.Duration
		replied int64
		want    time.Duration
	}{
		{30 * time.Millisecond, 0, restFactor * 30 * time.Millisecond},
		{time.Millisecond, 100_000, restFactor * (time.Millisecond + 100_000*writeStep)}, // a reply of 6 MB
		{time.Minute, 0, mostRest},
	} {
		release := next()
		turn := l.enter("hog")
		clock = clock.Add(c.took)
		release(c.replied)
		select {
		case <-turn:
			t.Fatal("the next read runs at once")
		default:
		}
		if rest != c.want {
			t.Errorf("after %v the place is empty for %v, want %v", c.took, rest, c.want)
		}
		free()
		<-turn
		l.leave("hog")
	}
	active = false
	next()(0)
	if l.running("hog") != 0 {
		t.Error("without others, a place stays empty")
	}
}

func (lr *longReads) running(db string) int {
	lr.mu.Lock()
	defer lr.mu.Unlock()
	if d := lr.databases[db]; d != nil {
		return d.running
	}
	return 0
}
