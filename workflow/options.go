package workflow

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"strings"
)

// Options says where Trireme is and how to speak to it. Handler and NewClient take the same. A field that is empty is read from the variable
// that its comment names, as "trireme dev" prints them.
type Options struct {
	// URL is the base URL of a node: QSTASH_URL.
	URL string
	// Token opens /v2: QSTASH_TOKEN.
	Token string
	// CurrentSigningKey and NextSigningKey sign deliveries: QSTASH_CURRENT_SIGNING_KEY and QSTASH_NEXT_SIGNING_KEY. If one is set a handler
	// refuses every request that neither has signed.
	CurrentSigningKey, NextSigningKey string
	// Unsigned has a handler accept requests without looking at their signatures, whatever keys are set.
	Unsigned bool
	// AppURL is where nodes reach the handler, up to the slash before a workflow's name: UPSTASH_WORKFLOW_URL. A client needs it to trigger by
	// name; a handler derives it from its requests if it is empty.
	AppURL string
	// HTTPClient sends the requests to nodes. Nil is http.DefaultClient.
	HTTPClient *http.Client
	// Node, if set, returns the base URL for each request, in place of URL: for several nodes without a load balancer.
	Node func() string
	// OnResult, if set, is called with every result of a step that a delivery carries or a node has recorded. out is its JSON. It may be called
	// by several goroutines.
	OnResult func(run string, step int, out string)
	// OnEnd, if set, is called with each run whose end a node has acknowledged.
	OnEnd func(run string)
}

// errNoServer says what is missing in Options.
var errNoServer = errors.New("workflow: no server: set Options.URL or QSTASH_URL")

// completed returns the options with what the environment says.
func (o Options) completed() Options {
	o.URL = strings.TrimRight(cmp.Or(o.URL, os.Getenv("QSTASH_URL")), "/")
	o.Token = cmp.Or(o.Token, os.Getenv("QSTASH_TOKEN"))
	o.AppURL = strings.TrimRight(cmp.Or(o.AppURL, os.Getenv("UPSTASH_WORKFLOW_URL")), "/")
	if o.CurrentSigningKey == "" && o.NextSigningKey == "" {
		o.CurrentSigningKey, o.NextSigningKey = os.Getenv("QSTASH_CURRENT_SIGNING_KEY"), os.Getenv("QSTASH_NEXT_SIGNING_KEY")
	}
	if o.HTTPClient == nil {
		o.HTTPClient = http.DefaultClient
	}
	if o.Node == nil {
		url := o.URL
		o.Node = func() string { return url }
	}
	return o
}
