package otlp

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Config holds the settings of the OTEL_* variables.
type Config struct {
	// Endpoint takes spans; empty if nothing is to be exported.
	Endpoint string
	// Headers go with each request.
	Headers map[string]string
	// Timeout bounds a request.
	Timeout time.Duration
	// Plain sends without gzip.
	Plain bool
	// Certificate is a PEM file with the roots of the collector's certificate, empty for the system's.
	Certificate string
	// Resource are the attributes of this process, with service.name.
	Resource map[string]string
	// Sampler says which traces are recorded.
	Sampler Sampler
	// Queue is the most spans that wait, Batch the most in a request, Delay the longest that a span waits for others.
	Queue, Batch int
	Delay        time.Duration
}

// The defaults of what the variables leave open.
const (
	defaultTimeout = 10 * time.Second
	defaultQueue   = 16384
	defaultBatch   = 2048
	defaultDelay   = time.Second
)

// ReadConfig reads the variables; every error names the variable that is wrong.
func ReadConfig(getenv func(string) string) (c Config, err error) {
	v := variables{getenv, &err}
	c = Config{Endpoint: v.endpoint(), Certificate: v.own("CERTIFICATE"), Headers: v.pairs("OTEL_EXPORTER_OTLP_HEADERS"), Resource: v.pairs("OTEL_RESOURCE_ATTRIBUTES"), Sampler: v.sampler()}
	maps.Copy(c.Headers, v.pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS"))
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		c.Resource["service.name"] = name
	}
	v.protocol()
	switch z := v.own("COMPRESSION"); z {
	case "none":
		c.Plain = true
	case "", "gzip":
	default:
		v.wrong("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip or none", z)
	}
	c.Timeout = defaultTimeout
	if v.own("TIMEOUT") != "" {
		c.Timeout = time.Duration(v.number(v.nameOf("TIMEOUT"), 1)) * time.Millisecond
	}
	c.Queue, c.Batch = v.number("OTEL_BSP_MAX_QUEUE_SIZE", defaultQueue), v.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", defaultBatch)
	c.Delay = time.Duration(v.number("OTEL_BSP_SCHEDULE_DELAY", int(defaultDelay.Milliseconds()))) * time.Millisecond
	return c, err
}

// variables reads variables, and keeps the first error.
type variables struct {
	getenv func(string) string
	err    *error
}

func (v variables) wrong(name, want, got string) {
	if *v.err == nil {
		*v.err = fmt.Errorf("%s must be %s, got %q", name, want, got)
	}
}

// nameOf is the variable of a setting of the exporter: that of traces, or that of all signals.
func (v variables) nameOf(setting string) string {
	if name := "OTEL_EXPORTER_OTLP_TRACES_" + setting; v.getenv(name) != "" {
		return name
	}
	return "OTEL_EXPORTER_OTLP_" + setting
}

func (v variables) own(setting string) string { return v.getenv(v.nameOf(setting)) }

// endpoint returns the URL to which spans are sent, or "" to export none.
func (v variables) endpoint() string {
	text, path := v.getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), ""
	if text == "" {
		text, path = v.getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "/v1/traces"
	}
	if text == "" || strings.EqualFold(v.getenv("OTEL_SDK_DISABLED"), "true") || v.getenv("OTEL_TRACES_EXPORTER") == "none" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		v.wrong(v.nameOf("ENDPOINT"), "an http:// or https:// URL", text)
		return ""
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	return u.String()
}

func (v variables) protocol() {
	if p := v.own("PROTOCOL"); p != "" && p != "http/protobuf" {
		v.wrong(v.nameOf("PROTOCOL"), "http/protobuf, the only one that this server speaks", p)
	}
}

// pairs reads name=value,name=value; values may have escapes of URLs.
func (v variables) pairs(name string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(v.getenv(name), ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		key, value, found := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !found || err != nil || key == "" {
			v.wrong(name, "NAME=VALUE, separated by commas", part)
			continue
		}
		all[key] = value
	}
	return all
}

func (v variables) number(name string, absent int) int {
	text := v.getenv(name)
	if text == "" {
		return absent
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > math.MaxInt32 {
		v.wrong(name, "a number above 0", text)
		return absent
	}
	return n
}

// sampler reads which traces are recorded.
func (v variables) sampler() Sampler {
	name := v.getenv("OTEL_TRACES_SAMPLER")
	rest, parent := strings.CutPrefix(name, "parentbased_")
	s := Sampler{Parent: parent || name == "", Ratio: 1}
	switch rest {
	case "", "always_on":
	case "always_off":
		s.Ratio = 0
	case "traceidratio":
		text := v.getenv("OTEL_TRACES_SAMPLER_ARG")
		ratio, err := strconv.ParseFloat(cmp.Or(text, "1"), 64)
		if err != nil || !(ratio >= 0 && ratio <= 1) {
			v.wrong("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1", text)
			ratio = 0
		}
		s.Ratio = ratio
	default:
		v.wrong("OTEL_TRACES_SAMPLER", "always_on, always_off, traceidratio, or one of them after parentbased_", name)
	}
	return s
}
