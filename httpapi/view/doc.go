// Package view renders the state as API answers: headers by name, bodies as text, with the fields of Svc-Redact-Fields
// redacted and long texts truncated. Messages and workflows are shown through it, so that hidden fields are hidden in
// one place. Deliveries never go through it. It is pure.
package view
