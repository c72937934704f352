package workflow

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RunOptions are settings of a run: they hold for each of its deliveries. The zero value leaves everything to the server.
type RunOptions struct {
	// RunID names the run. Empty draws an id.
	RunID string
	// URL is the workflow's, in place of AppURL and its name.
	URL string
	// Retries are how often a failed attempt is repeated: 0 is the server's default, 3, and NoRetries none.
	Retries int
	// RetryDelay is an expression in milliseconds, such as "1000 * (1 + retried)". Empty is the server's backoff.
	RetryDelay string
	// Timeout bounds one delivery.
	Timeout time.Duration
	// FlowControl limits how many deliveries of a key are under way, or begin.
	FlowControl *FlowControl
	// Labels are for filters of logs and dead letters.
	Labels []string
	// Delay and NotBefore put off the first delivery.
	Delay     time.Duration
	NotBefore time.Time
	// DeduplicationID starts one run for all triggers with this id, in the server's window.
	DeduplicationID string
	// Header is sent with each delivery, and to the failure function.
	Header http.Header
	// FailureURL is told of the failure of the run, in place of the workflow's failure function.
	FailureURL string
	// Inline has one delivery go through as many steps as it comes to.
	Inline bool
	// CommitAs names the user with whose rights the commands of steps run, CommitToken proves that the trigger may act for that user.
	CommitAs, CommitToken string
	// Updates are those that the run accepts from its start on, by name with their rules.
	Updates map[string]string
	// KeepEvents are names of events, or beginnings of names and "*", that the run keeps until it waits for them.
	KeepEvents []string
	// Deployment keeps the run on a deployment.
	Deployment string
	// Settings are further settings of the server by their names without prefix, such as "Singleton" or "On-Failure". An empty value removes
	// one of the others.
	Settings map[string]string
}

// NoRetries is the number of retries of a run, or of a call, whose first failure is its last.
const NoRetries = -1

// FlowControl limits the deliveries of everything with the same key. 0 = unlimited.
type FlowControl struct {
	Key         string
	Parallelism int           // at once
	Rate        int           // beginnings in a period
	Period      time.Duration // 0 is a second
}

// text returns the limits as the server reads them.
func (c *FlowControl) text() string {
	var parts []string
	if c.Parallelism > 0 {
		parts = append(parts, "parallelism="+strconv.Itoa(c.Parallelism))
	}
	if c.Rate > 0 {
		parts = append(parts, "rate="+strconv.Itoa(c.Rate))
	}
	if c.Period > 0 {
		parts = append(parts, "period="+seconds(c.Period))
	}
	return strings.Join(parts, ", ")
}

// seconds returns a duration in whole seconds, rounded up.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10) + "s"
}

// over returns the options with what those of a workflow say where they say nothing.
func (o *RunOptions) over(base RunOptions) RunOptions {
	if o == nil {
		return base
	}
	n := *o
	replace(&n.URL, base.URL)
	replace(&n.Retries, base.Retries)
	replace(&n.RetryDelay, base.RetryDelay)
	replace(&n.Timeout, base.Timeout)
	replace(&n.FlowControl, base.FlowControl)
	replace(&n.Delay, base.Delay)
	replace(&n.FailureURL, base.FailureURL)
	replace(&n.Inline, base.Inline)
	replace(&n.CommitAs, base.CommitAs)
	replace(&n.CommitToken, base.CommitToken)
	replace(&n.Deployment, base.Deployment)
	if n.Labels == nil {
		n.Labels = base.Labels
	}
	if n.Updates == nil {
		n.Updates = base.Updates
	}
	if n.KeepEvents == nil {
		n.KeepEvents = base.KeepEvents
	}
	if base.Header != nil {
		n.Header = base.Header.Clone()
		maps.Copy(n.Header, o.Header)
	}
	if base.Settings != nil {
		n.Settings = maps.Clone(base.Settings)
		maps.Copy(n.Settings, o.Settings)
	}
	return n
}

// replace sets a value that is zero.
func replace[T comparable](to *T, v T) {
	var zero T
	if *to == zero {
		*to = v
	}
}

// deliverySettings writes the settings that runs and calls have alike.
func deliverySettings(h map[string]string, retries int, delay string, timeout time.Duration, f *FlowControl) {
	if retries != 0 {
		h["upstash-retries"] = strconv.Itoa(max(retries, 0))
	}
	if delay != "" {
		h["upstash-retry-delay"] = delay
	}
	if timeout > 0 {
		h["upstash-timeout"] = seconds(timeout)
	}
	if f != nil {
		h["upstash-flow-control-key"], h["upstash-flow-control-value"] = f.Key, f.text()
	}
}

// set writes the options as headers of a trigger.
func (o *RunOptions) set(h map[string]string) error {
	for name, values := range o.Header {
		name = strings.ToLower(name)
		if name == "content-type" {
			h[name] = values[0]
			continue
		}
		h["upstash-forward-"+name], h["upstash-failure-callback-forward-"+name] = strings.Join(values, ", "), strings.Join(values, ", ")
	}
	deliverySettings(h, o.Retries, o.RetryDelay, o.Timeout, o.FlowControl)
	if len(o.Labels) > 0 {
		labels := strings.Join(o.Labels, ",")
		h["upstash-label"], h["upstash-forward-upstash-label"], h["upstash-failure-callback-forward-upstash-label"] = labels, labels, labels
	}
	if o.Delay > 0 {
		h["upstash-delay"] = seconds(o.Delay)
	}
	if !o.NotBefore.IsZero() {
		h["upstash-not-before"] = strconv.FormatInt(o.NotBefore.Unix(), 10)
	}
	if o.Inline {
		h["upstash-inline"] = "true"
	}
	if len(o.Updates) > 0 {
		b, err := json.Marshal(o.Updates)
		if err != nil {
			return err
		}
		h["upstash-updates"] = string(b)
	}
	for name, value := range map[string]string{
		"upstash-failure-callback": o.FailureURL, "upstash-commit-as": o.CommitAs, "upstash-commit-token": o.CommitToken,
		"upstash-keep-events": strings.Join(o.KeepEvents, ", "), "upstash-deployment": o.Deployment, "upstash-deduplication-id": o.DeduplicationID,
	} {
		if value != "" {
			h[name] = value
		}
	}
	for name, value := range o.Settings {
		if name = "upstash-" + strings.ToLower(name); value == "" {
			delete(h, name)
		} else {
			h[name] = value
		}
	}
	return nil
}

const features = "LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig"

// triggerHeaders returns the headers of a message that starts a run, without options.
func triggerHeaders(url, id string) map[string]string {
	return map[string]string{
		"content-type": "application/json", "upstash-method": http.MethodPost, "upstash-workflow-init": "true", "upstash-workflow-runid": id,
		"upstash-workflow-url": url, "upstash-workflow-sdk-version": protocolVersion, "upstash-feature-set": features,
		"upstash-forward-upstash-workflow-sdk-version": protocolVersion, "upstash-failure-callback": url,
		"upstash-failure-callback-forward-upstash-workflow-is-failure":       "true",
		"upstash-failure-callback-forward-upstash-workflow-failure-callback": "true",
		"upstash-failure-callback-workflow-runid":                            id, "upstash-failure-callback-workflow-url": url,
		"upstash-failure-callback-workflow-init": "false", "upstash-failure-callback-workflow-calltype": "failureCall",
		"upstash-failure-callback-feature-set": features,
	}
}
