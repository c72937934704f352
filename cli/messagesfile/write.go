package messagesfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// Format is the version of the format.
const Format = 1

// The kinds of the first and of the last line.
const (
	headKind = "trireme-messages"
	endKind  = "end"
)

// Head is the first line.
type Head struct {
	Kind     string    `json:"kind"`
	Format   int       `json:"format"`
	Version  string    `json:"version"`
	Database string    `json:"database"`
	Level    env.Level `json:"level"`
	// Time is the cluster's when the file was made.
	Time time.Time `json:"time"`
}

// end is the last line.
type end struct {
	Kind    string `json:"kind"`
	Records int    `json:"records"`
	SHA256  string `json:"sha256"`
}

// line is a record. Members that say nothing are left out.
type line struct {
	Kind  string `json:"kind"`
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	State string `json:"state,omitempty"`
	URL   string `json:"url,omitempty"`
	// Group is the URL group that a message goes to.
	Group       string              `json:"urlGroup,omitempty"`
	Queue       string              `json:"queue,omitempty"`
	Cron        string              `json:"cron,omitempty"`
	Method      string              `json:"method,omitempty"`
	Header      map[string][]string `json:"header,omitempty"`
	Body        *string             `json:"body,omitempty"`
	BodyBase64  []byte              `json:"bodyBase64,omitempty"`
	Endpoints   []string            `json:"endpoints,omitempty"`
	Parallelism int                 `json:"parallelism,omitempty"`
	Paused      bool                `json:"paused,omitempty"`
	Created     int64               `json:"createdAt,omitempty"`
	FirstAt     int64               `json:"notBefore,omitempty"`
	// Record is the encoded record, which an import reads. The other fields are for people.
	Record []byte `json:"record"`
}

// Write writes the messages and runs of a database of a frozen state, which version has made.
func Write(w io.Writer, f *fsm.Frozen, database, version string) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	if err := out.Encode(Head{headKind, Format, version, database, f.Level(), time.UnixMilli(f.Clock()).UTC()}); err != nil {
		return err
	}
	sum, n := sha256.New(), 0
	if err := f.MessageRecords(database, func(store fsm.RecordStore, record []byte) error {
		l := describe(store, record)
		l.Record = record
		n++
		sum.Write(fsm.AppendRecord(nil, store, record))
		return out.Encode(&l)
	}); err != nil {
		return err
	}
	return out.Encode(end{endKind, n, hex.EncodeToString(sum.Sum(nil))})
}

// describe returns the fields of a line that describe a record, without the record.
func describe(store fsm.RecordStore, record []byte) (l line) {
	l.Kind = Kind(store, record)
	if store == fsm.OfWorkflows {
		if r, ok := workflow.Describe(record).(*workflow.Run); ok && r.Config != nil {
			l.ID, l.State, l.URL, l.Created, l.Header = r.ID, r.State.String(), r.URL, r.Created, header(r.Header)
		}
		return l
	}
	switch n := queue.Describe(record).(type) {
	case *queue.Queue:
		l.Name, l.Parallelism, l.Paused, l.Created = n.Name, n.Parallelism, n.Paused, n.Created
	case *queue.FlowKey:
		l.Name, l.Parallelism, l.Paused = n.Key, n.Parallelism, n.Paused
	case *queue.Group:
		l.ID, l.Name, l.Created = n.ID, n.Name, n.Created
		for _, e := range n.Endpoints {
			l.Endpoints = append(l.Endpoints, e.URL)
		}
	case *queue.Schedule:
		p := &n.Publish
		l.ID, l.Cron, l.Paused, l.Created = n.ID, n.Cron, n.Paused, n.Created
		l.URL, l.Group, l.Queue, l.Method, l.Header = p.URL, p.Group, p.Queue, p.Method, header(p.Header)
		l.body(p.Body)
	case *queue.Message:
		c := n.Content()
		l.ID, l.State, l.Created, l.FirstAt = n.ID.String(), n.State().String(), c.Created, c.FirstAt
		l.URL, l.Group, l.Queue, l.Method, l.Header = c.URL, c.Group, c.Queue, c.Method, header(c.Header)
		l.body(c.Body)
	}
	return l
}

// body shows a body as text, or in base64 if it is none: control characters would take six bytes each.
func (l *line) body(b []byte) {
	if !utf8.Valid(b) || bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' && r != '\r' }) {
		l.BodyBase64 = b
		return
	}
	text := string(b)
	l.Body = &text
}

func header(fields []queue.Field) map[string][]string {
	var m map[string][]string
	for _, f := range fields {
		if m == nil {
			m = map[string][]string{}
		}
		name := queue.CanonicalName(f.Name)
		m[name] = append(m[name], f.Value)
	}
	return m
}

// Kind is the kind of the line that a record has.
func Kind(store fsm.RecordStore, record []byte) string {
	if store == fsm.OfWorkflows {
		return workflow.RecordKind(record)
	}
	return queue.RecordKind(record)
}
