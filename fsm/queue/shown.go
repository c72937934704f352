package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Redacted is what answers show in place of a value that is hidden: equal values look equal.
func Redacted(value string) string {
	sum := sha256.Sum256([]byte(value))
	return "REDACTED:" + hex.EncodeToString(sum[:])
}

// Shown is the body and the header as answers of the API may show them: what Svc-Redact-Fields names is redacted.
// Deliveries, retries and callbacks use the real values.
func (c *Content) Shown() (body string, header []Field) { return c.Redact.shown(c.Body, c.Header) }

// Shown is the body and the header of what a schedule publishes, as answers of the API may show them.
func (p *Publication) Shown() (body string, header []Field) { return p.Redact.shown(p.Body, p.Header) }

func (d *Redaction) shown(raw []byte, lines []Field) (body string, header []Field) {
	body, header = string(raw), lines
	if d == nil {
		return body, header
	}
	if d.Body && body != "" {
		body = Redacted(body)
	}
	header = make([]Field, len(lines))
	for i, f := range lines {
		if d.hides(f.Name) {
			f.Value = Redacted(f.Value)
		}
		header[i] = f
	}
	return body, header
}

func (d *Redaction) hides(name string) bool {
	if d.Header {
		return true
	}
	for _, n := range d.Names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// DeliveryMethod is the method of the delivery: POST unless another one was given.
func (c *Content) DeliveryMethod() string { return c.method() }

// To sets the destination: a URL, or the name or id of a URL group (messages.md section 3). API destinations are
// resolved by the caller, who knows them.
func (p *Publication) To(destination string) error {
	destination = strings.TrimSpace(destination)
	switch {
	case destination == "":
		return invalid("a non-empty destination must be provided")
	case isURL(destination):
		if c := (Content{URL: destination}); c.Host() == "" || strings.ContainsAny(destination, " \t\r\n\x00") {
			return invalid("invalid destination url: it has no host, or blanks")
		}
		p.URL = destination
	case ValidName(destination):
		p.Group = destination
	default:
		return invalid("invalid destination url: endpoint has invalid scheme, add http:// or https://")
	}
	return nil
}
