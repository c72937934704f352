package testapi

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"sync"
)

// Bounds of what is kept of deliveries: older ones are dropped.
const (
	maxDeliveries    = 10_000
	maxDeliveryBytes = 64 << 20
	maxShownBody     = 64 << 10 // of one request or answer
)

// Delivery is one request that the server has sent, and what came back.
type Delivery struct {
	// Number counts deliveries since the last reset, from 1.
	Number int `json:"number"`
	// At is cluster time when it was sent, unix milliseconds.
	At        int64  `json:"at"`
	MessageID string `json:"messageId"`
	// Retried is the number of retries before it.
	Retried       string      `json:"retried"`
	WorkflowRunID string      `json:"workflowRunId,omitempty"`
	ScheduleID    string      `json:"scheduleId,omitempty"`
	Method        string      `json:"method"`
	URL           string      `json:"url"`
	Header        http.Header `json:"header"`
	Body          string      `json:"body"`
	// Status is the status of the answer, 0 if there was none; Error says why.
	Status         int         `json:"status"`
	ResponseHeader http.Header `json:"responseHeader,omitempty"`
	ResponseBody   string      `json:"responseBody,omitempty"`
	Error          string      `json:"error,omitempty"`
}

func (d *Delivery) size() int { return 500 + len(d.Body) + len(d.ResponseBody) + len(d.URL) }

// Recorder is a transport that keeps what passes through it.
type Recorder struct {
	next http.RoundTripper
	now  func() int64

	mu    sync.Mutex
	count int
	bytes int
	kept  []*Delivery
}

// NewRecorder sends by next; now is cluster time in unix milliseconds.
func NewRecorder(next http.RoundTripper, now func() int64) *Recorder {
	return &Recorder{next: next, now: now}
}

// RoundTrip sends r as the next transport does.
func (re *Recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	d := &Delivery{At: re.now(), Method: r.Method, URL: r.URL.Scheme + "://" + r.URL.Host + r.URL.RequestURI(), Header: r.Header.Clone()}
	d.MessageID, d.Retried = serviceHeader(r.Header, "Message-Id"), serviceHeader(r.Header, "Retried")
	d.ScheduleID, d.WorkflowRunID = serviceHeader(r.Header, "Schedule-Id"), serviceHeader(r.Header, "Workflow-RunId")
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			head, _ := io.ReadAll(io.LimitReader(body, maxShownBody)) // a copy in memory
			body.Close()
			d.Body = string(head)
		}
	}
	p, err := re.next.RoundTrip(r)
	if err != nil {
		d.Error = err.Error()
		re.keep(d)
		return p, err
	}
	d.Status, d.ResponseHeader = p.StatusCode, p.Header.Clone()
	p.Body = &recordedBody{ReadCloser: p.Body, end: func(head string) {
		d.ResponseBody = head
		re.keep(d)
	}}
	return p, nil
}

// serviceHeader returns the value of a header of ours under either prefix.
func serviceHeader(h http.Header, name string) string {
	return cmp.Or(h.Get("Svc-"+name), h.Get("Upstash-"+name))
}

func (re *Recorder) keep(d *Delivery) {
	re.mu.Lock()
	defer re.mu.Unlock()
	re.count++
	d.Number = re.count
	re.kept = append(re.kept, d)
	re.bytes += d.size()
	for len(re.kept) > maxDeliveries || re.bytes > maxDeliveryBytes && len(re.kept) > 1 {
		re.bytes -= re.kept[0].size()
		re.kept = re.kept[1:]
	}
}

// Deliveries returns the deliveries that match, oldest first.
func (re *Recorder) Deliveries(match func(*Delivery) bool) []*Delivery {
	re.mu.Lock()
	defer re.mu.Unlock()
	list := []*Delivery{}
	for _, d := range re.kept {
		if match(d) {
			list = append(list, d)
		}
	}
	return list
}

// Reset forgets all deliveries.
func (re *Recorder) Reset() {
	re.mu.Lock()
	defer re.mu.Unlock()
	re.count, re.bytes, re.kept = 0, 0, nil
}

// recordedBody keeps the beginning of a body while it is read, and passes it to end once.
type recordedBody struct {
	io.ReadCloser
	head bytes.Buffer
	once sync.Once
	end  func(head string)
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.head.Write(p[:min(n, maxShownBody-b.head.Len())])
	return n, err
}

func (b *recordedBody) Close() error {
	b.once.Do(func() { b.end(b.head.String()) })
	return b.ReadCloser.Close()
}
