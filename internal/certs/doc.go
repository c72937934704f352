// Package certs manages the certificates of a process: a Pair is a certificate with its key, an Authority verifies the
// certificates of others. Both come from files, which are read again when they change, so that certificates are renewed while the
// process runs; or both are derived from a secret that the nodes of a cluster share (FromSecrets).
//
// # Invariants
//
//   - While new files can't be read, or don't belong together, the former certificate stays in use.
//   - Authority.Check is the only judge of who shows which certificate.
//   - Every node that knows a secret derives the same authority: an Ed25519 key whose seed is HKDF-SHA256 of the secret.
//     The key of a node's own certificate is random and never leaves the process; the certificate is valid for two days
//     and renewed twice a day, and backdated by a day for nodes whose clocks differ.
//   - Only crypto/tls, crypto/x509 and crypto/hkdf do cryptography.
//
// cmd/trireme loads them; cluster/transport and the listeners for clients use them.
package certs
