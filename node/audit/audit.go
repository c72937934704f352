package audit

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Outcome is the result of an act.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"
	Refused Outcome = "refused" // nothing was changed
	Failed  Outcome = "failed"  // nothing was changed, and not for the caller's fault
	Unknown Outcome = "unknown" // it may have happened, or may happen still
)

// Record is one administrative act.
type Record struct {
	Time time.Time `json:"time"`
	// Node is the node that was asked, or that did it.
	Node string `json:"node"`
	// Act names the action, such as "remove node"; Target is its object.
	Act    string `json:"act"`
	Target string `json:"target,omitempty"`
	// Detail says more, without secrets.
	Detail   string `json:"detail,omitempty"`
	Database string `json:"database,omitempty"`
	// Who is the token's name or the user, "cluster" for what the leader does by itself.
	Who string `json:"who"`
	// From is the address of the connection; Forwarded is the address that a proxy claims, unverified.
	From      string `json:"from,omitempty"`
	Forwarded string `json:"forwarded,omitempty"`
	Request   string `json:"request,omitempty"`
	// Session is the console's session in which it was done, if it was.
	Session string  `json:"session,omitempty"`
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"`
	// Omitted counts records of denied callers that were left out before this one.
	Omitted int `json:"omitted,omitempty"`
}

// Those who act without a token.
const (
	Nobody  = "nobody"  // whose token opens nothing
	Cluster = "cluster" // the leader by itself
	Process = "process" // the node's process: its start and end
)

// ToLog is the destination that is the node's log; Off is none.
const (
	ToLog = "log"
	Off   = "off"
)

// deniedEvery is the least interval between records of callers with an invalid token, because anyone who
// reaches the port can be one.
const deniedEvery = time.Second

// Log takes records. A nil one takes none.
type Log struct {
	node string
	log  *slog.Logger
	file *file // nil: records are lines of log

	mu      sync.Mutex
	now     func() time.Time
	denied  time.Time // the last one recorded
	omitted int
	recent  []Record // the oldest first

	records *prometheus.CounterVec
	lost    prometheus.Counter
}

// Open opens the log at its destination: ToLog, Off, or the path of a file that is appended to. Its metrics go to r.
func Open(destination, node string, log *slog.Logger, r prometheus.Registerer) (*Log, error) {
	if destination == Off {
		return nil, nil
	}
	l := &Log{node: node, log: log, now: time.Now}
	l.records = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "trireme_audit_records_total", Help: "Administrative acts recorded, by outcome."}, []string{"outcome"})
	l.lost = prometheus.NewCounter(prometheus.CounterOpts{Name: "trireme_audit_lost_total", Help: "Administrative acts that could not be recorded."})
	for _, o := range []Outcome{Done, Refused, Failed, Unknown} {
		l.records.WithLabelValues(string(o))
	}
	for _, c := range []prometheus.Collector{l.records, l.lost} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("audit: %w", err)
		}
	}
	if destination == ToLog {
		return l, nil
	}
	f, err := openFile(destination)
	if err != nil {
		return nil, fmt.Errorf("open the file of --audit-log: %w", err)
	}
	l.file = f
	return l, nil
}

// Write takes a record; its time and node are the log's to say. A record that can't be
// written goes to the node's log: the act has happened.
func (l *Log) Write(r Record) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Time, r.Node = l.now().UTC(), l.node
	if r.Who == Nobody && !l.admit(&r) {
		return
	}
	l.records.WithLabelValues(string(r.Outcome)).Inc()
	if l.recent = append(l.recent, r); len(l.recent) > Recent {
		l.recent = slices.Delete(l.recent, 0, 1)
	}
	if l.file == nil {
		l.log.Info("audit", r.attributes()...)
		return
	}
	if err := l.file.append(r); err != nil {
		l.lost.Inc()
		l.log.Error("an administrative act could not be recorded in its file", append(r.attributes(), "error", err)...)
	}
}

// Recent is the number of newest records that a log keeps in memory.
const Recent = 500

// Newest returns the newest n records since the process started, at most Recent, the newest first.
func (l *Log) Newest(n int) []Record {
	list := []Record{}
	if l == nil {
		return list
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list = append(list, l.recent[max(0, len(l.recent)-n):]...)
	slices.Reverse(list)
	return list
}

// admit reports whether a denied caller is recorded now, and counts the others.
func (l *Log) admit(r *Record) bool {
	if r.Time.Sub(l.denied) < deniedEvery {
		l.omitted++
		return false
	}
	l.denied, r.Omitted, l.omitted = r.Time, l.omitted, 0
	return true
}

// attributes are the record in the form of the node's log.
func (r *Record) attributes() []any {
	all := []any{"act", r.Act, "who", r.Who, "outcome", string(r.Outcome)}
	for _, a := range [...]struct{ name, value string }{
		{"target", r.Target}, {"detail", r.Detail}, {"database", r.Database}, {"from", r.From}, {"forwarded", r.Forwarded},
		{"request", r.Request}, {"session", r.Session}, {"reason", r.Reason},
	} {
		if a.value != "" {
			all = append(all, a.name, a.value)
		}
	}
	if r.Omitted > 0 {
		all = append(all, "omitted", r.Omitted)
	}
	return all
}

// Close closes the file, if there is one.
func (l *Log) Close() error {
	if l == nil || l.file == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.f.Close()
}

// maxText is the most bytes of one text in a record.
const maxText = 1000

// Text makes what a caller has written fit for a record.
func Text(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "") + "..."
}
