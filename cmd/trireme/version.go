package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/trireme-dev/trireme/cli"
)

// version and commit are set by the linker (see the Makefile), and otherwise taken from what Go notes in a binary.
var (
	version = unset
	commit  = "unknown"
)

// unset is the version of a binary that was built without one.
const unset = "dev"

func init() {
	if info, ok := debug.ReadBuildInfo(); ok && version == unset {
		version, commit = buildVersion(info)
	}
}

// buildVersion returns the version and the commit that Go records in a binary: the module's version after
// `go install MODULE@VERSION`, the commit after a build in a repository. A module version that names a commit, such as
// v0.1.1-0.20261122224003-35ac9f1abcde, is converted to the Makefile's form, so that versions compare however a binary was built.
func buildVersion(info *debug.BuildInfo) (version, commit string) {
	version, commit = unset, "unknown"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			commit = s.Value[:12]
		}
	}
	module, found := strings.CutPrefix(info.Main.Version, "v")
	if !found {
		return version, commit // (devel), or nothing
	}
	module, _, _ = strings.Cut(module, "+dirty")
	parts := strings.Split(module, "-")
	last := parts[len(parts)-1]
	if len(parts) < 2 || len(last) != 12 {
		return module, commit
	}
	stamp := parts[len(parts)-2]
	day := stamp[strings.LastIndexByte(stamp, '.')+1:]
	if len(day) != 14 {
		return module, commit
	}
	return betweenTags(module, "git"+day[:8]+"."+last[:7]), last
}

// betweenTags returns the version of a commit between two tags in the form of scripts/version.sh, which names the tag before the
// commit. Go's form names the next tag instead, whose last number is one higher. After a release candidate Go's form stays.
func betweenTags(module, commit string) string {
	if strings.HasPrefix(module, "0.0.0-") {
		return "0~" + commit
	}
	var major, minor, patch int
	if n, _ := fmt.Sscanf(module, "%d.%d.%d-0.", &major, &minor, &patch); n != 3 || patch == 0 {
		return module
	}
	return fmt.Sprintf("%d.%d.%d+%s", major, minor, patch-1, commit)
}

// versionLine returns the line that `trireme version`, --version and -v print.
func versionLine() string {
	return fmt.Sprintf("trireme %s (commit %s, %s, %s/%s)", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cli.UsageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := cmd.OutOrStdout()
			if asJSON {
				return json.NewEncoder(out).Encode(map[string]string{
					"version": version, "commit": commit, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintln(out, versionLine())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
