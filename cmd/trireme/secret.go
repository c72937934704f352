package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/trireme-dev/trireme/cli"
	"github.com/trireme-dev/trireme/internal/certs"
)

// secretName is the variable with the secret that the nodes of a cluster share.
const secretName = "TRIREME_CLUSTER_SECRET"

// hasSecret reports whether a cluster secret is given.
func (s *settings) hasSecret() bool {
	return s.ClusterCA == "" && (s.ClusterSecret != "" || os.Getenv(secretName) != "")
}

// insecureCluster reports whether a cluster port without TLS is allowed beyond loopback.
func (s *settings) insecureCluster() bool {
	return s.ClusterInsecure || slices.Contains(s.Plaintext, plainCluster)
}

// secrets returns the secrets of --cluster-secret-file or of the variable.
func (s *settings) secrets() ([]certs.Secret, error) {
	text, from := os.Getenv(secretName), secretName
	switch {
	case text != "" && s.ClusterSecret != "":
		return nil, cli.Usagef("both %s and --cluster-secret-file (%s_FILE) are given: give one of them", secretName, secretName)
	case s.ClusterSecret != "":
		from = "--cluster-secret-file " + s.ClusterSecret
		b, err := os.ReadFile(s.ClusterSecret)
		if err != nil {
			return nil, cli.Usagef("can't read the file of --cluster-secret-file: %w", err)
		}
		text = string(b)
	}
	all, err := certs.ParseSecrets(text)
	if err != nil {
		return nil, cli.Usagef("%s: %w", from, err)
	}
	return all, nil
}

// keepSecret returns the path of a directory's cluster secret, which it generates at the first start.
func keepSecret(dir string) (string, error) {
	path := filepath.Join(dir, "cluster-secret")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if os.IsExist(err) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	if _, err := f.WriteString(certs.NewSecret() + "\n"); err != nil {
		f.Close()
		os.Remove(path)
		return "", err
	}
	return path, f.Close()
}
