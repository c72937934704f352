package view

import (
	"cmp"
	"net/http"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Options are the options of a message, an event, a schedule, a dead letter or the dead letter of a run, as answers show
// them. A new option is one field here and its line in NewOptions. Empty members are left out.
type Options struct {
	Method               string              `json:"method"`
	Header               map[string][]string `json:"header,omitempty"`
	QueueName            string              `json:"queueName,omitempty"`
	Callback             string              `json:"callback,omitempty"`
	FailureCallback      string              `json:"failureCallback,omitempty"`
	RetryDelayExpression string              `json:"retryDelayExpression,omitempty"`
	Label                string              `json:"label,omitempty"`
	Labels               []string            `json:"labels,omitempty"`
	FlowControlKey       string              `json:"flowControlKey,omitempty"`
	Parallelism          int                 `json:"parallelism,omitempty"`
	Rate                 int                 `json:"rate,omitempty"`
	Period               int64               `json:"period,omitempty"` // in seconds
	CallerIP             string              `json:"callerIP,omitempty"`
	CommitAs             string              `json:"commitAs,omitempty"`
	Burst                int                 `json:"burst,omitempty"`
	Priority             int                 `json:"priority,omitempty"`
	Tenant               string              `json:"tenant,omitempty"`
	Weight               int                 `json:"weight,omitempty"`
	Cost                 int                 `json:"cost,omitempty"`
	// Of these at most one is there, as its header gives it.
	Debounce  string `json:"debounce,omitempty"`
	Batch     string `json:"batch,omitempty"`
	Singleton string `json:"singleton,omitempty"`
	OnFailure string `json:"onFailure,omitempty"`
}

// CallbackHeaders are the headers of callbacks; events have other names for them.
type CallbackHeaders struct {
	CallbackHeader        map[string][]string `json:"callbackHeader,omitempty"`
	FailureCallbackHeader map[string][]string `json:"failureCallbackHeader,omitempty"`
}

// NewOptions shows options, with what they redact hidden.
func NewOptions(o *queue.Options, callerIP string) (n Options, h CallbackHeaders) {
	show := Redactor{Hide: o.Redact, Trim: -1}
	n = Options{
		Method: cmp.Or(o.Method, http.MethodPost), Header: show.Header(o.Header), QueueName: o.Queue, CallerIP: callerIP,
		RetryDelayExpression: o.RetryDelay, Label: First(o.Labels), Labels: o.Labels, CommitAs: o.CommitAs,
	}
	n.Debounce, n.Batch, n.Singleton = Gathers(o)
	n.OnFailure = AtEnd(o)
	if c := o.Callback; c != nil {
		n.Callback, h.CallbackHeader = c.URL, show.Header(c.Options.Header)
	}
	if c := o.Failure; c != nil {
		n.FailureCallback, h.FailureCallbackHeader = c.URL, show.Header(c.Options.Header)
	}
	if f := o.Flow; f != nil {
		n.FlowControlKey, n.Parallelism, n.Rate, n.Period, n.Burst = f.Key, f.Parallelism, f.Rate, max(f.Period/1000, 1), f.Burst
	}
	if p := o.Precedence; p != nil {
		n.Priority, n.Tenant, n.Weight, n.Cost = p.Priority, p.Tenant, p.Weight, p.Cost
	}
	return n, h
}

// Gathers returns what options say of other messages, as headers give it: at most one of the three.
func Gathers(o *queue.Options) (debounce, batch, singleton string) {
	if o.Gather == nil {
		return
	}
	switch name, value := o.Gather.Directive(); name {
	case "debounce":
		return value, "", ""
	case "batch":
		return "", value, ""
	default:
		return "", "", value
	}
}

// AtEnd returns what happens at the end of the retries, empty for a dead letter.
func AtEnd(o *queue.Options) string {
	if o.OnFailure == queue.DeadLetter {
		return ""
	}
	return o.OnFailure.String()
}
