package archive

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"filippo.io/age"
	"github.com/prometheus/client_golang/prometheus"
)

// Schedule makes backups at times, on whichever node leads.
type Schedule struct {
	// Archive keeps them.
	Archive Archive
	// Next is the first time of the schedule after another one.
	Next func(after time.Time) time.Time
	// Keep is the number of backups of this cluster that are kept; 0 = all.
	Keep int
	// Recipients can decrypt the backups. None: backups are not encrypted.
	Recipients []age.Recipient
	// Leads reports whether this node makes backups now.
	Leads func() bool
	// Take freezes the state.
	Take func(ctx context.Context) (Source, error)
	// Cluster is the id of the cluster.
	Cluster func() string
	Log     *slog.Logger

	// packSize and leastUsed replace the constants in tests.
	packSize, leastUsed int

	metrics *metrics
	led     bool      // at the last look
	newest  time.Time // the newest backup that is known; the time of the first look without one
	failed  int       // attempts in a row
	retryAt time.Time
}

// The times between two looks at the schedule, and between attempts after failures.
const (
	look       = time.Second
	firstRetry = 10 * time.Second
	lastRetry  = time.Hour
)

type metrics struct {
	newest   prometheus.Gauge
	attempts *prometheus.CounterVec
	bytes    prometheus.Gauge
}

// Register registers the metrics of the schedule.
func (s *Schedule) Register(registry prometheus.Registerer) {
	s.metrics = &metrics{
		newest: prometheus.NewGauge(prometheus.GaugeOpts{Name: "trireme_scheduled_backup_timestamp_seconds",
			Help: "When the newest scheduled backup in the archive was taken, in unix time, as this node last saw it; 0 on nodes that have not led."}),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "trireme_scheduled_backups_total",
			Help: "Scheduled backups that this node made or failed to make."}, []string{"outcome"}),
		bytes: prometheus.NewGauge(prometheus.GaugeOpts{Name: "trireme_scheduled_backup_bytes",
			Help: "Bytes that the last scheduled backup of this node wrote, the packs it added included."}),
	}
	registry.MustRegister(s.metrics.newest, s.metrics.attempts, s.metrics.bytes)
	for _, outcome := range []string{"done", "failed"} {
		s.metrics.attempts.WithLabelValues(outcome)
	}
}

// Run makes backups until ctx ends.
func (s *Schedule) Run(ctx context.Context) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.Look(ctx, now)
		}
	}
}

// Look makes a backup if this node leads and one is due: if the schedule has a time between the newest backup in the
// archive and now, or if the archive has none of this cluster. So a time that no leader has seen is made up for.
func (s *Schedule) Look(ctx context.Context, now time.Time) {
	led := s.led
	s.led = s.Leads()
	if !s.led || now.Before(s.retryAt) {
		return
	}
	if !led || s.failed > 0 { // another one may have made backups, and what failed may have come through
		if err := s.refresh(ctx); err != nil {
			s.fail(now, err)
			return
		}
	}
	if !s.newest.IsZero() && s.Next(s.newest).After(now) {
		s.failed = 0
		return
	}
	bytes, name, err := s.make(ctx, now)
	if err != nil {
		s.fail(now, err)
		return
	}
	s.failed, s.newest = 0, now
	s.metrics.attempts.WithLabelValues("done").Inc()
	s.metrics.newest.Set(float64(now.Unix()))
	s.metrics.bytes.Set(float64(bytes))
	s.Log.Info("scheduled backup", "name", name, "bytes", bytes, "to", s.Archive.String())
	if err := s.prune(ctx, now); err != nil {
		s.Log.Warn("old backups are kept", "error", err)
	}
}

// fail plans the next attempt.
func (s *Schedule) fail(now time.Time, err error) {
	pause := min(lastRetry, firstRetry<<min(s.failed, 10))
	s.failed++
	s.retryAt = now.Add(pause)
	s.metrics.attempts.WithLabelValues("failed").Inc()
	s.Log.Error("scheduled backup failed", "error", err, "retry_in", pause)
}

// refresh reads from the archive when the newest backup was taken.
func (s *Schedule) refresh(ctx context.Context) error {
	all, err := List(ctx, s.Archive, s.Cluster())
	if err != nil {
		return err
	}
	if len(all) > 0 {
		s.newest = all[0].Time
		s.metrics.newest.Set(float64(s.newest.Unix()))
	}
	return nil
}

// make makes one backup, and returns how many bytes it has written.
func (s *Schedule) make(ctx context.Context, now time.Time) (bytes int64, name string, err error) {
	src, err := s.Take(ctx)
	if err != nil {
		return 0, "", err
	}
	if src.Payloads != nil {
		return s.writeIncremental(ctx, src, now)
	}
	name = NameOf(src.Cluster, now, len(s.Recipients) > 0)
	bytes, err = put(ctx, s.Archive, name, func(w io.Writer) error { return seal(w, s.Recipients, src.Write) })
	return bytes, name, err
}

// prune removes what is beyond Keep, and then the packs that no backup needs any more.
func (s *Schedule) prune(ctx context.Context, now time.Time) error {
	all, err := List(ctx, s.Archive, s.Cluster())
	if err != nil {
		return err
	}
	keep := len(all)
	if s.Keep > 0 {
		keep = min(keep, s.Keep)
	}
	for _, b := range all[keep:] {
		if err := s.Archive.Remove(ctx, b.Name); err != nil {
			return fmt.Errorf("archive: remove %s: %w", b.Name, err)
		}
		s.Log.Info("removed an old backup", "name", b.Name)
	}
	removed, err := prunePacks(ctx, s.Archive, s.Cluster(), now)
	if removed > 0 {
		s.Log.Info("removed packs that no backup needs", "packs", removed)
	}
	return err
}

// counter counts what is written through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
