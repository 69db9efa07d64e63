// Command notices writes the licenses of all modules that are linked into kubectl-batchjob.
//
// Most licenses require that binaries are distributed with their text and copyright notices. So every archive and the
// image contain this file. It lists the modules in the binaries of all platforms, with their license files, and Go
// itself, whose standard library is in every binary.
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms returns the platforms in .goreleaser.yaml.
func platforms() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
}

// licenseFile matches the names under which modules keep licenses and notices.
var licenseFile = regexp.MustCompile(`(?i)^(li[cs]en[cs]es?|copying|copyright|notice|patents)([._-].*)?$`)

// statement is a license text, and the modules that use it.
type statement struct {
	text string
	from []string
}

func main() {
	out := flag.String("o", "THIRD_PARTY_NOTICES", "the file to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	folders, err := linked()
	if err != nil {
		return err
	}
	statements, err := collect(folders)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	var text strings.Builder
	write(&text, statements)
	return os.WriteFile(out, []byte(text.String()), 0o644)
}

// linked maps each module, as path and version, to its linked directories and their parents
// up to its root.
func linked() (map[string][]string, error) {
	folders := map[string][]string{}
	for _, platform := range platforms() {
		packages, err := list(platform)
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", platform, err)
		}
		for _, p := range packages {
			if p.Standard || p.Module == nil || p.Module.Main {
				continue
			}
			name := p.Module.Path + " " + p.Module.Version
			folders[name] = append(folders[name], upTo(p.Dir, p.Module.Dir)...)
		}
	}
	goroot, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	dir, version, _ := strings.Cut(strings.TrimSpace(string(goroot)), "\n")
	folders["Go and its standard library, "+version] = []string{dir}
	return folders, nil
}

// listed is the output of `go list` for a package.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// list returns all packages that are linked into the plugin on a platform.
func list(platform string) ([]listed, error) {
	goos, goarch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", "./cmd/kubectl-batchjob")
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	output, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var packages []listed
	decoder := json.NewDecoder(strings.NewReader(string(output)))
	for {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// upTo returns dir and its parents, up to root.
func upTo(dir, root string) []string {
	folders := []string{dir}
	for dir != root && strings.HasPrefix(dir, root) {
		dir = filepath.Dir(dir)
		folders = append(folders, dir)
	}
	return folders
}

// collect reads the licenses of the modules. A shared text is listed once.
func collect(folders map[string][]string) ([]statement, error) {
	from := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		texts, err := read(folders[name])
		if err != nil {
			return nil, err
		}
		if len(texts) == 0 {
			return nil, fmt.Errorf("%s has no license that this program finds", name)
		}
		for _, text := range texts {
			from[text] = append(from[text], name)
		}
	}
	var statements []statement
	for text, names := range from {
		statements = append(statements, statement{text, names})
	}
	slices.SortFunc(statements, func(a, b statement) int {
		return cmp.Or(slices.Compare(a.from, b.from), strings.Compare(a.text, b.text))
	})
	return statements, nil
}

// read returns the texts of the license files in some folders, each once.
func read(folders []string) ([]string, error) {
	var texts []string
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(folders))) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() || strings.HasSuffix(e.Name(), ".go") || !licenseFile.MatchString(e.Name()) {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			texts = append(texts, strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n")))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(texts))), nil
}

func write(w io.Writer, statements []statement) {
	fmt.Fprintln(w, "kubectl-batchjob is made with the works of others, under the terms that follow.")
	for _, s := range statements {
		fmt.Fprintf(w, "\n%s\n\n", strings.Repeat("=", 80))
		for _, name := range s.from {
			fmt.Fprintln(w, name)
		}
		fmt.Fprintf(w, "\n%s\n", s.text)
	}
}
