package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"github.com/spf13/pflag"
	"github.com/trireme-dev/trireme/cli"
)

// secretNames are the secrets of a node that a file can hold: NAME of the flag --NAME-file and of
// the variable TRIREME_NAME_FILE; the variable TRIREME_NAME is the secret itself. There are no
// flags for the secrets themselves, because everybody on the machine can read a command line.
// (--gossip-key is older than this rule, see hideSecrets; the cluster secret has a flag of its own.)
var secretNames = []struct{ name, what string }{
	{"token", "token of the keyspace"},
	{"readonly-token", "token for reads of the keyspace"},
	{"admin-token", "token of /admin"},
	{"messages-token", "token of /v2"},
	{"messages-readonly-token", "token for reads of /v2"},
	{"current-signing-key", "key that signs deliveries"},
	{"next-signing-key", "key that signs deliveries after the next rotation"},
	{"oidc-client-secret", "client secret of --oidc-issuer"},
	{"gossip-key", "key that encrypts gossip, instead of --gossip-key"},
}

// secretFileFlags declares the flags --NAME-file.
func secretFileFlags(f *pflag.FlagSet, s *settings) {
	s.SecretFiles = map[string]*string{}
	for _, one := range secretNames {
		s.SecretFiles[variableOf(one.name)] = f.String(one.name+"-file", "", "`FILE` with the "+one.what)
	}
}

// secret returns a secret from its variable or from the file of its flag.
func (s *settings) secret(variable string) (string, error) {
	path := s.SecretFiles[variable]
	if path == nil {
		return secretVariable(variable)
	}
	return readSecret(variable, os.Getenv(variable), *path)
}

// secretFile returns the path of a secret's file, or "".
func (s *settings) secretFile(name string) string {
	if path := s.SecretFiles[envPrefix+name]; path != nil {
		return *path
	}
	return ""
}

// readSecret returns value, or the contents of the file at path, or "" without both.
func readSecret(variable, value, path string) (string, error) {
	if path == "" {
		return value, nil
	}
	flag := "--" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, envPrefix), "_", "-")) + "-file"
	if value != "" {
		return "", cli.Usagef("both %s and %s_FILE (%s) are set: set one of them", variable, variable, flag)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", cli.Usagef("can't read the file of %s_FILE: %w", variable, err)
	}
	if value = strings.TrimSpace(string(text)); value == "" {
		return "", cli.Usagef("the file of %s_FILE (%s) is empty", variable, path)
	}
	return value, nil
}

// generatedFile holds the generated secrets of a new cluster, in the data directory of the node that
// generated them.
const generatedFile = "generated-secrets.env"

// keepGenerated adds lines NAME=VALUE to the file of generated secrets, which only its owner can
// read, and returns its path. Standard output often ends in a journal that others read.
func keepGenerated(dir string, lines []string) (string, error) {
	path := filepath.Join(dir, generatedFile)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return path, fmt.Errorf("keep the generated secrets: %w", err)
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return path, fmt.Errorf("keep the generated secrets: %w", err)
	}
	return path, nil
}

// hiddenFlags have values that process lists must not show.
var hiddenFlags = []string{"gossip-key", "token"}

// hideSecrets returns a copy of the arguments and overwrites the values of secret flags in the
// process's own, so that process lists don't show them. Go's os.Args are the memory of which the
// system makes its lists, on Linux.
func hideSecrets(args []string) []string {
	kept := make([]string, len(args))
	for i, arg := range args {
		kept[i] = strings.Clone(arg)
	}
	for i, arg := range kept {
		name, value, given := strings.Cut(arg, "=")
		switch {
		case !slices.Contains(hiddenFlags, strings.TrimLeft(name, "-")) || !strings.HasPrefix(name, "-"):
		case given:
			overwrite(args[i][len(arg)-len(value):])
		case i+1 < len(args):
			overwrite(args[i+1])
		}
	}
	return kept
}

// overwrite replaces the bytes of a string of the process's arguments, which are writable memory.
func overwrite(s string) {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	for i := range b {
		b[i] = '*'
	}
}
