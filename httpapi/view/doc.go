// Package view shows what the state holds in the form of answers of the API: headers by name,
// bodies as texts, with what Svc-Redact-Fields names hidden and long texts cut. Messages and
// workflows show theirs through it, so that what is to be hidden is hidden in one place.
// Deliveries never go through it. It is pure.
package view
