package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// envPrefix starts the environment variable of every flag: --data-dir is
// TRIREME_DATA_DIR.
const envPrefix = "TRIREME_"

// keyDelimiter parts nested keys in koanf. Flags have no nested keys, so it is
// something that no key of a file holds by accident.
const keyDelimiter = "\x00"

// load fills the flags that the command line did not set from the environment, and
// what that leaves from the YAML file named by --config. A flag beats its variable,
// a variable beats the file, the file beats the default.
func load(flags *pflag.FlagSet) error {
	fromEnv := koanf.New(keyDelimiter)
	if err := fromEnv.Load(env.Provider(keyDelimiter, env.Opt{Prefix: envPrefix, TransformFunc: flagOfVariable(flags)}), nil); err != nil {
		return err
	}
	if err := fill(flags, fromEnv, func(name string) string { return "the variable " + variableOf(name) }); err != nil {
		return err
	}
	path, err := flags.GetString("config")
	if err != nil || path == "" {
		return err
	}
	fromFile, err := readFile(flags, path)
	if err != nil {
		return err
	}
	return fill(flags, fromFile, func(name string) string { return fmt.Sprintf("%s in %s", name, path) })
}

func variableOf(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// flagOfVariable names the flag of a variable; variables that belong to no flag
// (credentials, the client commands' own) are passed over, and so are empty ones.
func flagOfVariable(flags *pflag.FlagSet) func(key, value string) (string, any) {
	return func(key, value string) (string, any) {
		name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(key, envPrefix), "_", "-"))
		if flags.Lookup(name) == nil || value == "" {
			return "", nil
		}
		return name, value
	}
}

// readFile reads a YAML file. A key that is no flag is refused: a mistyped setting
// that is silently ignored is found too late.
func readFile(flags *pflag.FlagSet, path string) (*koanf.Koanf, error) {
	k := koanf.New(keyDelimiter)
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		var reason *fs.PathError
		if errors.As(err, &reason) {
			return nil, usagef("can't read the file of --config: %w", reason)
		}
		return nil, usagef("%s is not a YAML file of settings: %w", path, err)
	}
	for key := range k.Raw() {
		if flags.Lookup(key) == nil || key == "config" {
			return nil, usagef("%s: there is no setting named %q", path, key)
		}
	}
	return k, nil
}

// fill sets every flag that is not set yet from k.
func fill(flags *pflag.FlagSet, k *koanf.Koanf, source func(name string) string) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if failed != nil || f.Changed || !k.Exists(f.Name) {
			return
		}
		if err := flags.Set(f.Name, flagText(k.Get(f.Name))); err != nil {
			failed = usagef("%s: %w", source(f.Name), errors.Unwrap(err))
			if errors.Unwrap(err) == nil {
				failed = usagef("%s: %w", source(f.Name), err)
			}
		}
	})
	return failed
}

// flagText is a value of a file in the words of the command line: a list is joined
// by commas, a map becomes NAME=VALUE pairs.
func flagText(value any) string {
	switch v := value.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = flagText(item)
		}
		return strings.Join(parts, ",")
	case nil:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

// secretVariable is the value of a credential variable, or of the file that NAME_FILE names.
func secretVariable(name string) (string, error) {
	return readSecret(name, os.Getenv(name), os.Getenv(name+"_FILE"))
}
