package queue

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/httpurl"
)

// redacted replaces every hidden value in answers. A digest of the value follows it, under the salt of the
// message: equal values of one message look equal, and a value can't be found by trying.
const redacted = "REDACTED"

// Redacted returns the text that replaces a hidden value in answers. For messages that were published before messages had
// salts it shows nothing of the value.
func (r *Redaction) Redacted(value string) string {
	if r == nil || len(r.Salt) == 0 {
		return redacted
	}
	h := hmac.New(sha256.New, r.Salt)
	h.Write([]byte(value))
	return redacted + ":" + hex.EncodeToString(h.Sum(nil))
}

// saltSize is the length of a salt in bytes: too long to be tried.
const saltSize = 16

// salted returns r with a salt from the entry that stores it.
func (r *Redaction) salted(e *env.Env) *Redaction {
	if r == nil || len(r.Salt) > 0 {
		return r
	}
	s := *r
	for len(s.Salt) < saltSize {
		s.Salt = binary.BigEndian.AppendUint64(s.Salt, e.Uint64())
	}
	return &s
}

// SaltRedaction lets what the options hide be shown under a salt of its own.
func (o *Options) SaltRedaction(e *env.Env) { o.Redact = o.Redact.salted(e) }

// RedactedParts is the body and the header as commands answer them: what Svc-Redact-Fields names is redacted.
// Deliveries, retries and callbacks use the real values.
func (co *Content) RedactedParts() (body string, header []Field) {
	d := co.Redact
	body, header = string(co.Body), co.Header
	if d == nil {
		return body, header
	}
	if d.Body && body != "" {
		body = d.Redacted(body)
	}
	header = make([]Field, len(co.Header))
	for i, f := range co.Header {
		if d.hides(f.Name) {
			f.Value = d.Redacted(f.Value)
		}
		header[i] = f
	}
	return body, header
}

func (r *Redaction) hides(name string) bool {
	if r.Header {
		return true
	}
	for _, n := range r.Names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// DeliveryMethod is the method of the delivery: POST unless another one was given.
func (co *Content) DeliveryMethod() string { return co.method() }

// To sets the destination: a URL, or the name or id of a URL group (messages.md
// section 3). API destinations are resolved by the caller, who knows them.
func (p *Publication) To(destination string) error {
	destination = strings.TrimSpace(destination)
	switch {
	case destination == "":
		return invalid("a non-empty destination must be provided")
	case isURL(destination):
		u, err := httpurl.Read(destination, nil)
		if err != nil {
			return invalid("invalid destination url %q: %s", destination, err)
		}
		p.URL = u.String()
	case ValidName(destination):
		p.Group = destination
	default:
		return invalid("invalid destination url: endpoint has invalid scheme, add http:// or https://")
	}
	return nil
}
