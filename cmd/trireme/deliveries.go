package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/cluster"
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/backoff"
	"github.com/trireme-dev/trireme/fsm/httpurl"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/internal/httpclient"
	"github.com/trireme-dev/trireme/internal/idn"
	"github.com/trireme-dev/trireme/scheduler"
	"github.com/trireme-dev/trireme/scheduler/egress"
)

// deliverySettings holds the flags of deliveries.
type deliverySettings struct {
	Issuer            string
	Region            string
	DefaultRetryDelay string
	EgressAllow       []string
	EgressHTTPSOnly   bool
	EgressProxy       string
	EgressCA          string
	EgressDNS         string
	APIs              []string
	Senders           int
	SendersPerHost    int
	MaxResponse       byteSize
	SpecLiteral       bool
	TracePropagation  string
	TraceCommands     float64
}

// deliveryFlags declares the flags of deliveries.
func deliveryFlags(f *pflag.FlagSet, d *deliverySettings) {
	f.StringVar(&d.Issuer, "signature-issuer", "Upstash", "iss claim of delivery signatures; existing receivers expect the default")
	f.StringVar(&d.Region, "region", "", "`NAME` that deliveries carry in the header Region (default: no header)")
	f.StringVar(&d.DefaultRetryDelay, "default-retry-delay", backoff.Default, "backoff of messages that do not set it, an `EXPR` as in Svc-Retry-Delay")
	f.StringSliceVar(&d.EgressAllow, "egress-allow", nil, "networks (`CIDRS`) outside the public Internet that deliveries may reach")
	f.BoolVar(&d.EgressHTTPSOnly, "egress-https-only", false, "refuse http:// destinations of deliveries")
	f.StringVar(&d.EgressProxy, "egress-proxy", "", "HTTP proxy `URL` of deliveries; it resolves names and must refuse forbidden addresses itself")
	f.StringVar(&d.EgressCA, "egress-ca", "", "PEM `FILE` of additional root certificates for deliveries")
	f.StringVar(&d.EgressDNS, "egress-dns", "", "DNS server (`HOST:PORT`) for the destinations of deliveries (default: the system's)")
	f.StringArrayVar(&d.APIs, "api", nil, "`NAME=URL` of an API destination; its token is TRIREME_API_NAME_TOKEN")
	f.BoolVar(&d.SpecLiteral, "spec-literal", false, "write events as the published specification does, with times as strings and CANCELLED; existing clients expect the default")
	f.StringVar(&d.TracePropagation, "trace-propagation", on, "on or off: whether messages and runs keep the traceparent and tracestate of the request, and deliveries carry them")
	f.Float64Var(&d.TraceCommands, "trace-commands", 0, "`PART` of the requests of clients, 0 to 1, of which spans are exported if a collector is named")
	f.IntVar(&d.Senders, "senders", scheduler.DefaultSenders, "maximum number of concurrent delivery `ATTEMPTS`")
	f.Var(&d.MaxResponse, "max-response-size", "maximum size of an answer's body that is kept for callbacks and workflows (0 = the limit of messages)")
	f.IntVar(&d.SendersPerHost, "senders-per-host", 0, "maximum number of concurrent delivery `ATTEMPTS` to one host (0 = a tenth of --senders)")
}

// destinations holds the parsed deliverySettings.
type destinations struct {
	delay  *backoff.Expr
	allow  []netip.Prefix
	proxy  *url.URL
	roots  *x509.CertPool
	dns    *net.Resolver     // nil is the system's
	apis   map[string]string // URLs by name
	tokens map[string]string // by name
}

// parse parses the settings. Every error is a usage error.
func (s *deliverySettings) parse() (out destinations, err error) {
	if out.delay, err = backoff.Parse(s.DefaultRetryDelay); err != nil {
		return out, cli.Usagef("--default-retry-delay: %w", err)
	}
	if out.allow, err = egress.ParseAllow(s.EgressAllow); err != nil {
		return out, cli.Usagef("--egress-allow: %w", err)
	}
	if s.EgressProxy != "" {
		out.proxy, err = url.Parse(s.EgressProxy)
		if err != nil || out.proxy.Host == "" || out.proxy.Scheme != "http" && out.proxy.Scheme != "https" {
			return out, cli.Usagef("--egress-proxy must be an http:// or https:// URL, got %s", s.EgressProxy)
		}
	}
	if s.EgressCA != "" {
		if out.roots, err = egress.ReadRoots(s.EgressCA); err != nil {
			return out, cli.Usagef("--egress-ca: %w", err)
		}
	}
	if s.EgressDNS != "" {
		if host, _, err := net.SplitHostPort(s.EgressDNS); err != nil || host == "" {
			return out, cli.Usagef("--egress-dns %s is not HOST:PORT", s.EgressDNS)
		}
		out.dns = egress.DNS(s.EgressDNS)
	}
	if s.MaxResponse > maxRequestSize {
		return out, cli.Usagef("--max-response-size must not exceed 48MiB: an answer must fit into one log entry")
	}
	if s.Senders < 1 || s.SendersPerHost < 0 {
		return out, cli.Usagef("--senders must be at least 1 and --senders-per-host at least 0")
	}
	if s.TracePropagation != on && s.TracePropagation != off {
		return out, cli.Usagef("--trace-propagation must be on or off, got %q", s.TracePropagation)
	}
	if !(s.TraceCommands >= 0 && s.TraceCommands <= 1) {
		return out, cli.Usagef("--trace-commands must be a number from 0 to 1, got %v", s.TraceCommands)
	}
	out.apis, out.tokens, err = s.parseAPIs()
	return out, err
}

func (s *deliverySettings) parseAPIs() (urls, tokens map[string]string, err error) {
	urls, tokens = map[string]string{}, map[string]string{}
	for _, text := range s.APIs {
		name, target, _ := strings.Cut(text, "=")
		u, err := httpurl.Read(target, idn.ToASCII)
		if err != nil || !queue.ValidName(name) {
			return nil, nil, cli.Usagef("--api %s is not NAME=URL", text)
		}
		if s.EgressHTTPSOnly && strings.EqualFold(u.Scheme, "http") {
			return nil, nil, cli.Usagef("--api %s: its URL must be https, because --egress-https-only is set", name)
		}
		urls[name] = u.String()
		if tokens[name], err = secretVariable(apiVariable(name)); err != nil {
			return nil, nil, err
		}
	}
	return urls, tokens, nil
}

// apiVariable returns the name of the variable with an API's token: TRIREME_API_MY_LLM_TOKEN for
// my-llm.
func apiVariable(name string) string {
	return envPrefix + "API_" + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name)) + "_TOKEN"
}

// deliveries sends messages while this node is leader.
type deliveries struct {
	*settings
	destinations
	log      *slog.Logger
	registry *prometheus.Registry
	keys     signingKeys

	policy *egress.Policy
	client *httpclient.Client
	via    http.RoundTripper // the client, or what records deliveries for tests
	self   *selfAddresses

	observe func(*queue.Attempt, *queue.Result, queue.Disposition) // nil observes nothing
	trace   func(*queue.Attempt) queue.TraceContext                // nil exports no spans

	mu        sync.Mutex
	scheduler *scheduler.Scheduler
	closed    bool
	closing   sync.Once
}

func (s *settings) newDeliveries(log *slog.Logger, registry *prometheus.Registry, p profile) (*deliveries, error) {
	parsed, err := s.Deliveries.parse()
	if err != nil {
		return nil, err
	}
	d := &deliveries{settings: s, destinations: parsed, log: log, registry: registry, keys: p.signingKeys(), self: &selfAddresses{}}
	d.policy = &egress.Policy{Open: p.loopbackOnly(), Allow: parsed.allow, HTTPSOnly: s.Deliveries.EgressHTTPSOnly, Own: d.self.has}
	d.client = egress.NewClient(egress.Options{
		Policy: d.policy, Proxy: parsed.proxy, Roots: parsed.roots, Resolver: parsed.dns,
		IdlePerHost: max(s.Deliveries.Senders/10, 16),
	})
	d.via = d.client
	if dev, ok := p.(*devNode); ok && !dev.Quiet {
		d.observe = newDeliveryLog(dev.out, dev.shopURL()).delivered
	}
	if parsed.proxy != nil {
		log.Warn("deliveries go through a proxy: it resolves names, so it has to refuse what they must not reach", "proxy", parsed.proxy.Host)
	}
	return d, nil
}

// lead delivers until ctx ends with this node's leadership.
func (d *deliveries) lead(ctx context.Context, node *cluster.Node) {
	d.self.refresh(ctx, d.settings, node)
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() { d.self.follow(ctx, d.settings, node) })
	if err := d.keys.storeFirst(ctx, node); err != nil && ctx.Err() == nil {
		d.log.Warn("the signing keys were not written", "error", err)
	}
	if s := d.schedulerOn(node); s != nil {
		s.Run(ctx)
	}
}

// checkEgress checks a destination's host against the egress rules before the message is stored, if the
// host is an address. A name is checked when it is dialed.
func (d *deliveries) checkEgress(host string) error {
	addr, err := netip.ParseAddr(host)
	if strings.EqualFold(host, "localhost") {
		addr, err = netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	if err != nil {
		return nil // a name
	}
	if kind, refused := d.policy.Refuses(addr); refused {
		return fmt.Errorf("endpoint resolves to a %s address: %s", kind, addr)
	}
	return nil
}

// sendToAPI sends a request to an API destination at once. It returns redirects like other
// responses.
func (d *deliveries) sendToAPI(api string, r *http.Request) (*http.Response, error) {
	if token := d.tokens[api]; token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return d.client.RoundTrip(r)
}

// schedulerOn returns the scheduler of a node, nil if deliveries are closed.
func (d *deliveries) schedulerOn(node *cluster.Node) *scheduler.Scheduler {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.scheduler == nil && !d.closed {
		o := d.settings.Deliveries
		d.scheduler = scheduler.New(scheduler.Options{
			Claimer: scheduler.NodeClaimer(node, node.Piggyback), Senders: o.Senders, HostShare: o.SendersPerHost, Observe: d.observe, Trace: d.trace, Log: d.log,
			Deliverer: scheduler.NewSender(scheduler.SenderOptions{
				Transport: d.via, Prefixes: d.HeaderPrefix, Issuer: o.Issuer, Region: o.Region, APITokens: d.tokens, DefaultDelay: d.delay,
				Keys: func(db string) queue.Keys { return scheduler.Keys(node, db) }, Deliveries: scheduler.Deliveries(node), MaxResponse: func() int64 { return d.maxResponse(node) },
				Propagate: o.TracePropagation == on, Trace: d.trace,
			}),
		})
		d.registry.MustRegister(d.scheduler.Collectors()...)
	}
	return d.scheduler
}

// maxResponse returns the limit of --max-response-size in bytes. Its default is the limit of a message's body: the
// replicated setting, or the limit of requests.
func (d *deliveries) maxResponse(node scheduler.Node) (limit int64) {
	if limit = int64(d.Deliveries.MaxResponse); limit > 0 {
		return limit
	}
	node.Machine().View(0, [16]byte{}, func(v *fsm.View) { limit = v.Messages().Settings().MaxMessage })
	if limit > 0 {
		return min(limit, maxRequestSize)
	}
	return int64(d.MaxRequestSize)
}

// finalAttemptTime bounds the attempts that are under way when the node begins to stop.
const finalAttemptTime = 4 * time.Second

// close waits up to finalAttemptTime for attempts under way, while the node still leads. Only the first call has an effect.
func (d *deliveries) close() { d.closing.Do(d.end) }

func (d *deliveries) end() {
	ctx, cancel := context.WithTimeout(context.Background(), finalAttemptTime)
	defer cancel()
	d.mu.Lock()
	s := d.scheduler
	d.closed = true
	d.mu.Unlock()
	if s != nil {
		s.Close(ctx)
	}
	d.client.CloseIdle()
}

// signingKeys holds the signing keys with which a cluster begins.
type signingKeys struct {
	queue.Keys
	// again has them replace the cluster's at every start.
	again bool
	out   io.Writer
	// dir gets the file of generated keys.
	dir string
}

// devKeys are the public signing keys that clients in their development mode expect (messages
// protocol). They protect nothing.
var devKeys = queue.Keys{Current: "sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r", Next: "sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs"}

// givenKeys returns the signing keys that the operator sets, or none. read looks one up by its variable.
func givenKeys(read func(variable string) (string, error)) (k queue.Keys, err error) {
	if k.Current, err = read(envPrefix + "CURRENT_SIGNING_KEY"); err != nil {
		return k, err
	}
	if k.Next, err = read(envPrefix + "NEXT_SIGNING_KEY"); err != nil {
		return k, err
	}
	if (k.Current == "") != (k.Next == "") {
		return k, cli.Usagef("TRIREME_CURRENT_SIGNING_KEY and TRIREME_NEXT_SIGNING_KEY go together: set both or none")
	}
	return k, nil
}

// storeFirst stores the first signing keys of a cluster that has none, and prints generated
// ones.
func (k *signingKeys) storeFirst(ctx context.Context, node *cluster.Node) error {
	now := scheduler.Keys(node, "")
	if now != (queue.Keys{}) && (!k.again || now == k.Keys) {
		return nil
	}
	drawn, err := fsm.Do(ctx, node, fsm.RotateKeys, queue.Rotation{Keys: k.Keys, Again: k.again})
	if err == nil && k.Keys == (queue.Keys{}) {
		path, kept := keepGenerated(k.dir, []string{envPrefix + "CURRENT_SIGNING_KEY=" + drawn.Current, envPrefix + "NEXT_SIGNING_KEY=" + drawn.Next})
		if kept != nil {
			path = "no file (" + kept.Error() + ")"
		}
		fmt.Fprintf(k.out, "The generated signing keys of this cluster are in %s; GET /v2/keys returns them\n", path)
	}
	return err
}
