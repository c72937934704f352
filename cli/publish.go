package cli

import (
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// An option of a message: a flag with the header, without its prefix, that it becomes.
type option struct{ flag, header, usage string }

// messageOptions are the options of docs/messages.md with a flag of their own. The others are given by --set.
var messageOptions = []option{
	{"method", "Method", "`METHOD` of the request to the destination (default POST)"},
	{"timeout", "Timeout", "how long an attempt may take: a `DURATION` such as 30s"},
	{"retries", "Retries", "`NUMBER` of attempts after the first"},
	{"retry-delay", "Retry-Delay", "`EXPRESSION` over retried, in milliseconds"},
	{"delay", "Delay", "`DURATION` before the first attempt, such as 1d10h30m"},
	{"not-before", "Not-Before", "earliest first attempt, in `SECONDS` since 1970"},
	{"callback", "Callback", "`URL` that is told the answer of each attempt"},
	{"failure-callback", "Failure-Callback", "`URL` that is told when the message has failed"},
	{"flow-control-key", "Flow-Control-Key", "`KEY` whose limits the message shares"},
	{"flow-control-value", "Flow-Control-Value", "`LIMITS` of the key, such as rate=10,period=1m,parallelism=3"},
	{"priority", "Priority", "`NUMBER` from 0 to 9: what waits and is more urgent comes first"},
	{"tenant", "Tenant", "`TENANT` whose share of the queue or key the message takes"},
	{"weight", "Weight", "`NUMBER` from 1 to 1000: the weight of the tenant's share"},
	{"cost", "Cost", "`NUMBER`: what the message counts for in the limits of its key and in the share"},
	{"label", "Label", "`LABELS`, separated by commas"},
	{"redact-fields", "Redact-Fields", "`FIELDS` that answers of the API hide: body, header, header[Name]"},
	{"deduplication-id", "Deduplication-Id", "one message of that `ID` in the window"},
	{"debounce", "Debounce", "`RULE` by which the last publication counts, such as key=user-7,delay=5s,max-wait=1m"},
	{"batch", "Batch", "`RULE` of one delivery of many, such as key=orders,size=100,wait=5s"},
	{"singleton", "Singleton", "`RULE` of one live message, such as key=report,mode=skip (or attach, cancel, queue)"},
	{"on-failure", "On-Failure", "`WHAT` happens at the end of the retries: dead-letter or pause"},
	{"commit-as", "Commit-As", "`USER` with whose rights the commands of an answer run"},
}

// scheduleOptions are the options of schedules only.
var scheduleOptions = []option{
	{"cron", "Cron", "`EXPRESSION` of five fields, @hourly, or @every 30s; CRON_TZ=Area/City may be in front"},
	{"id", "Schedule-Id", "`ID` of the schedule; the schedule of that id is replaced"},
	{"misfire", "Misfire", "`POLICY` for ticks that were missed: once, all or none"},
	{"queue", "Queue-Name", "`NAME` of the queue that the messages go through"},
}

// publication are the flags of a message.
type publication struct {
	values       map[string]*string // by header
	headers, set []string
	file, typed  string
	contentBased bool
}

func (p *publication) flags(f *pflag.FlagSet, lists ...[]option) {
	p.options(f, lists...)
	f.StringVar(&p.file, "body-file", "", "`FILE` with the body; - = standard input")
	f.StringVar(&p.typed, "content-type", "", "`TYPE` of the body (default: application/json if it is JSON, else text/plain)")
}

// options are the flags of a message without its body.
func (p *publication) options(f *pflag.FlagSet, lists ...[]option) {
	p.values = map[string]*string{}
	for _, list := range lists {
		for _, o := range list {
			p.values[o.header] = f.String(o.flag, "", o.usage)
		}
	}
	f.BoolVar(&p.contentBased, "content-based-deduplication", false, "deduplicate by destination, body and headers")
	f.StringArrayVarP(&p.headers, "header", "H", nil, "`NAME:VALUE` of a header for the destination; may be repeated")
	f.StringArrayVar(&p.set, "set", nil, "any other option as `NAME=VALUE`, such as Callback-Retries=5; may be repeated")
}

// header are the options as headers of a request.
func (p *publication) header() (http.Header, error) {
	h := http.Header{}
	for name, value := range p.values {
		if *value != "" {
			h.Set("Svc-"+name, *value)
		}
	}
	if p.contentBased {
		h.Set("Svc-Content-Based-Deduplication", "true")
	}
	for _, line := range p.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, Usagef("--header must be NAME:VALUE, got %q", line)
		}
		h.Add("Svc-Forward-"+strings.TrimSpace(name), strings.TrimSpace(value))
	}
	for _, line := range p.set {
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" {
			return nil, Usagef("--set must be NAME=VALUE, got %q", line)
		}
		h.Set("Svc-"+name, value)
	}
	return h, nil
}

// body returns the body from the argument or the file.
func (p *publication) body(args []string, stdin io.Reader) ([]byte, error) {
	switch {
	case len(args) > 0 && p.file != "":
		return nil, Usagef("both a body and --body-file are given: give one of them")
	case len(args) > 0:
		return []byte(args[0]), nil
	}
	return readBody(p.file, stdin)
}

func readBody(path string, stdin io.Reader) ([]byte, error) {
	switch path {
	case "":
		return nil, nil
	case "-":
		return io.ReadAll(stdin)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, Usagef("can't read the body: %w", err)
	}
	return text, nil
}

// publish sends a message to a path of the API, and returns the answer.
func (s *session) publish(p *publication, path string) ([]byte, error) {
	header, err := p.header()
	if err != nil {
		return nil, err
	}
	body, err := p.body(s.args[1:], s.cmd.InOrStdin())
	if err != nil {
		return nil, err
	}
	if header.Set("Content-Type", contentType(body)); p.typed != "" {
		header.Set("Content-Type", p.typed)
	}
	return s.send(s.ctx, request{method: "POST", path: path, header: header, body: body})
}
