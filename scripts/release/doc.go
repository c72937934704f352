// Command release builds the release: for each platform a static binary in an archive with
// manual pages, completions, units and licences; checksums; an SBOM in SPDX; and container
// images as OCI archives, without a daemon; the npm packages of clients that are not private; and
// this repository as a Go module, in the folder go, laid out as a module proxy.
//
//	go run ./scripts/release -out bin/release
//	go run ./scripts/release -licenses bin/THIRD_PARTY_LICENSES
//
// THIRD_PARTY_LICENSES has the licences of all modules that the binary links. A module without a licence file, or with one
// of an unknown kind, is an error: somebody has to read it.
//
// The result depends on the commit, the release of Go and, for the images, the machine's root certificates: times are
// the commit's, owners are root, and names are in order, so two builds are equal byte for byte. A working tree with other
// changes is refused without -dirty. With TRIREME_RELEASE_KEY (a
// base64 Ed25519 seed of 32 bytes) the checksums are signed.
package main
