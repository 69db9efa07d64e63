package page

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kubeyaml "sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// root is the project's folder.
const root = "../../../.."

// documents returns all pages of the project, by path.
func documents(t *testing.T) map[string]*Page {
	t.Helper()
	pages := map[string]*Page{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := entry.Name(); entry.IsDir() && name != root && (strings.HasPrefix(base, ".") || slices.Contains([]string{"bin", "dist", "node_modules"}, base)) {
			return filepath.SkipDir
		}
		if filepath.Ext(name) != ".md" {
			return nil
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		p, err := Read(root, filepath.ToSlash(relative))
		if err != nil {
			t.Error(err)
			return nil
		}
		pages[p.Path] = p
		return nil
	})
	assert.NoError(t, err)
	if len(pages) < 10 {
		t.Fatalf("only %d pages were found", len(pages))
	}
	return pages
}

// target returns the target of a link: a path in the project and a heading's anchor, if the target is in the project.
func target(p *Page, l Link) (file, anchor string, local bool) {
	const home = "https://github.com/batchjob-dev/kubectl-batchjob/"
	to := l.Target
	for _, view := range []string{"blob/main/", "tree/main/"} {
		if rest, ours := strings.CutPrefix(to, home+view); ours {
			to = "/" + rest
		}
	}
	to, anchor, _ = strings.Cut(to, "#")
	switch {
	case strings.Contains(to, ":"):
		return "", "", false
	case to == "":
		return p.Path, anchor, true
	case strings.HasPrefix(to, "/"):
		return path.Clean(to[1:]), anchor, true
	}
	return path.Join(path.Dir(p.Path), to), anchor, true
}

// Issue 7, point 6: the target of each link exists, and each picture exists and has an alternative text.
func TestLinksLeadSomewhere(t *testing.T) {
	pages := documents(t)
	for _, p := range pages {
		for _, l := range p.Links() {
			if l.Image && len(strings.TrimSpace(l.Alt)) < 3 {
				t.Errorf("%s:%d: the image %s has no text", p.Path, l.Line, l.Target)
			}
			file, anchor, local := target(p, l)
			if !local {
				if u, err := url.Parse(l.Target); err != nil || u.Scheme != "https" || u.Host == "" {
					t.Errorf("%s:%d: %s is no address", p.Path, l.Line, l.Target)
				}
				continue
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil || strings.HasPrefix(file, "..") {
				t.Errorf("%s:%d: the link to %s leads nowhere", p.Path, l.Line, l.Target)
				continue
			}
			if to := pages[file]; anchor != "" && to != nil && !to.Anchors()[anchor] {
				t.Errorf("%s:%d: %s has no heading for #%s", p.Path, l.Line, file, anchor)
			}
		}
	}
}

// Issue 7, point 6: every page can be reached from the README and the index, and the index lists all pages of docs.
func TestPagesAreReachable(t *testing.T) {
	pages := documents(t)
	index := pages["docs/README.md"]
	if index == nil {
		t.Fatal("docs/README.md is missing")
	}
	listed := map[string]bool{}
	for _, l := range index.Links() {
		file, _, _ := target(index, l)
		listed[file] = true
	}
	reached := map[string]bool{}
	next := []string{"README.md", "docs/README.md"}
	for len(next) > 0 {
		p := pages[next[0]]
		next = next[1:]
		if p == nil || reached[p.Path] {
			continue
		}
		reached[p.Path] = true
		for _, l := range p.Links() {
			file, _, local := target(p, l)
			if info, err := os.Stat(filepath.Join(root, file)); local && err == nil && info.IsDir() {
				file = path.Join(file, "README.md") // The README is shown for a folder.
			}
			next = append(next, file)
		}
	}
	for name := range pages {
		if !reached[name] {
			t.Errorf("no link leads to %s", name)
		}
		if path.Dir(name) == "docs" && name != "docs/README.md" && !listed[name] {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

// commandLine matches lines that look like commands.
var commandLine = regexp.MustCompile(`^\s*(\$ )?(sudo )?(kubectl|kubectl-batchjob|make|curl|helm|docker|go -C|go install|git clone|export KUBECONFIG|tar x)\b[^:]*$`)

// Issue 7, point 6: no command evades the test because it is in a block that is not run.
func TestCommandsStandInBlocks(t *testing.T) {
	for name, p := range documents(t) {
		if !IsRun(name) {
			continue
		}
		for line, text := range p.Indented {
			if commandLine.MatchString(text) {
				t.Errorf("%s:%d: a command in an indented block, which is not run: make it a block of sh or console", name, line)
			}
		}
		for _, b := range p.Blocks {
			if b.IsCommands() || b.Lang != "" && b.Lang != "text" {
				continue
			}
			for i, text := range strings.Split(b.Text, "\n") {
				if commandLine.MatchString(text) {
					t.Errorf("%s:%d: a command in a block that is not run: make it a block of sh or console", name, b.Line+i)
				}
			}
		}
		for _, b := range p.Blocks {
			if b.Lang == "console" && len(b.Commands()) == 0 {
				t.Errorf("%s: a console without a prompt", b.Where())
			}
		}
	}
}

// beyond matches commands that a test machine cannot run: they need the network, other tools, containers (simulated
// nodes have no logs, shells or ports), the Prometheus operator, or another control plane. All other blocks can be run.
var beyond = regexp.MustCompile(`https://|\b(sudo|helm|docker|podman|kind|minikube|cosign|gh|krew|brew|winget|scoop|go install|git clone|git push|git tag|ssh|amtool|promtool)\b` +
	`|kubectl (-n \S+ )?(edit|logs|exec|port-forward|cp|attach|debug)\b|config/prometheus|controlplane run`)

// Issue 7, point 6: few blocks are not run, and only those that cannot be run.
func TestFewBlocksAreNotRun(t *testing.T) {
	const most = 3 // of a page
	for name, p := range documents(t) {
		if !IsRun(name) {
			continue
		}
		n := 0
		for _, b := range p.Blocks {
			if b.Run.Elsewhere == "" || b.Lang == windows {
				continue
			}
			n++
			t.Logf("%s is not run: %s", b.Where(), b.Run.Elsewhere)
			if !beyond.MatchString(b.Text) {
				t.Errorf("%s: nothing in this block cannot be run by a test", b.Where())
			}
		}
		if n > most {
			t.Errorf("%s: %d blocks are not run; %d are the most", name, n, most)
		}
		for _, b := range p.Blocks {
			if b.IsCommands() && b.Run.Elsewhere == "" && !b.Run.Archives && strings.Contains(b.Text, "/releases/") && strings.Contains(b.Text, "curl") {
				t.Errorf("%s: a download needs the directive for the archives of make snapshot", b.Where())
			}
		}
	}
}

// parts returns the types that YAML without a kind may be a part of.
func parts() map[string]any {
	return map[string]any{
		"a Job": &batchv1.Job{}, "the spec of a Job": &batchv1.JobSpec{}, "rules of a failure policy": &[]batchv1.PodFailurePolicyRule{},
		"a CronJob": &batchv1.CronJob{}, "a Deployment": &appsv1.Deployment{}, "the spec of a pod": &corev1.PodSpec{},
		"a ClusterRole": &rbacv1.ClusterRole{}, "rules of a role": &[]rbacv1.PolicyRule{}, "a kustomization": &kustomization{},
		"the configuration of Prometheus": &prometheus{}, "an endpoint of a ServiceMonitor": &endpoint{},
		"a workflow of GitHub Actions": &workflow{}, "a pipeline of GitLab": &pipeline{},
	}
}

// The documentation shows these parts of files that are no API objects.
type (
	kustomization struct {
		Resources, Components []string
		Namespace, NamePrefix string
		Patches, Images       []map[string]any
		Labels                []map[string]any
	}
	endpoint struct {
		TLSConfig map[string]any `json:"tlsConfig"`
	}
	workflow struct {
		Name        string            `json:"name"`
		On          any               `json:"on"`
		Permissions map[string]string `json:"permissions"`
		Jobs        map[string]struct {
			RunsOn string `json:"runs-on"`
			Steps  []struct {
				Name, Uses, Run, Shell, If string
				Env, With                  map[string]string
			} `json:"steps"`
		} `json:"jobs"`
	}
	pipeline map[string]struct {
		Image        string   `json:"image"`
		BeforeScript []string `json:"before_script"`
		Script       []string `json:"script"`
		Artifacts    any      `json:"artifacts"`
	}
	prometheus struct {
		RuleFiles     []string         `json:"rule_files"`
		ScrapeConfigs []map[string]any `json:"scrape_configs"`
	}
)

// Issue 7, point 6: YAML is valid and has no duplicate keys, and a part of an object has only known fields. The test
// with a cluster validates whole objects with the API server.
func TestYAMLHasKnownFields(t *testing.T) {
	n := 0
	for _, p := range documents(t) {
		for _, b := range p.Blocks {
			if b.Lang != "yaml" && b.Lang != "json" {
				continue
			}
			decoder := yaml.NewDecoder(bytes.NewBufferString(b.Text))
			for {
				var v any
				err := decoder.Decode(&v)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Errorf("%s: %v", b.Where(), err)
					break
				}
				n++
				if object, ok := v.(map[string]any); b.Lang == "yaml" && (!ok || object["kind"] == nil) {
					isPart(t, b, v)
				}
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d pieces of YAML were found", n)
	}
}

// isPart fails if no known type has all the fields.
func isPart(t *testing.T, b Block, v any) {
	t.Helper()
	data, err := yaml.Marshal(v)
	assert.NoError(t, err)
	var problems []string
	for what, into := range parts() {
		err := kubeyaml.UnmarshalStrict(data, into)
		if err == nil {
			return
		}
		problems = append(problems, fmt.Sprintf("%s: %v", what, err))
	}
	slices.Sort(problems)
	t.Errorf("%s: this is a part of nothing that is known:\n%s", b.Where(), strings.Join(problems, "\n"))
}

// foreign maps flags of other programs, which the documentation mentions without the program, to the program.
var foreign = map[string]string{
	"--controllers": "kube-controller-manager",
	"--array":       "Slurm",
	"--all-pods":    "kubectl logs",
	"--dry-run":     "kubectl",
	"--fast":        "test/cluster/conformance",
	"--list":        "test/cluster/conformance",
	"--run":         "test/cluster/conformance",
}

var flagName = regexp.MustCompile(`(?:^|[\s\[|,(])(--[a-z][a-z0-9-]+)`)

// Issue 7, point 6: each flag in the text is a flag of a command.
func TestFlagsInProseExist(t *testing.T) {
	known := map[string]bool{"--help": true}
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		add := func(f *pflag.Flag) { known["--"+f.Name] = true }
		cmd.Flags().VisitAll(add)
		cmd.PersistentFlags().VisitAll(add)
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(cli.NewCommand())
	verbs := map[string]bool{"kubectl-batchjob": true}
	for _, verb := range cli.NewCommand().Commands() {
		verbs[verb.Name()] = true
	}
	ours := func(code string) bool { // as a flag alone, or in one of our commands
		words := append(strings.Fields(code), "")
		return strings.HasPrefix(code, "-") || verbs[words[0]] || words[0] == "kubectl" && words[1] == "batchjob"
	}
	n := 0
	for name, p := range documents(t) {
		if !IsRun(name) && name != "docs/reference.md" {
			continue
		}
		for i, line := range strings.Split(p.Prose, "\n") {
			for _, code := range inlineCode.FindAllString(line, -1) {
				code = strings.Trim(code, "`")
				if !ours(code) {
					continue
				}
				for _, match := range flagName.FindAllStringSubmatch(code, -1) {
					n++
					if f := match[1]; !known[f] && foreign[f] == "" {
						t.Errorf("%s:%d: no command has %s", name, i+1, f)
					}
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d flags were found", n)
	}
}

// Issue 7, point 6: each make target in the text is in the Makefile.
func TestMakeTargetsInProseExist(t *testing.T) {
	out, err := exec.Command("make", "-C", root, "--no-print-directory", "help").CombinedOutput()
	if err != nil {
		t.Fatalf("make help: %v\n%s", err, out)
	}
	wanted := regexp.MustCompile("`make ([a-z][a-z0-9-]*)")
	n := 0
	for name, p := range documents(t) {
		for _, match := range wanted.FindAllStringSubmatch(p.Prose, -1) {
			n++
			if !strings.Contains(string(out), "  "+match[1]+" ") {
				t.Errorf("%s: the Makefile has no target %s", name, match[1])
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d targets were found", n)
	}
}

// kubernetesPaths are the folders of Kubernetes and Kueue that pages name as sources, as "pkg/kubelet/eviction".
var kubernetesPaths = regexp.MustCompile(`^pkg/(apis|kubelet|registry|scheduler)/|^pkg/controller/(core|cronjob|job|podgc|tainteviction)\b`)

// A path of the project in the text exists, and so does a declaration that the text finds there: "`matched` in `pkg/cause/cause.go`".
// `catalog.go` alone names a file, and only the requirements name files of Kubernetes in this way.
func TestCodeInProseExists(t *testing.T) {
	files := map[string]bool{}
	var tests strings.Builder
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") {
			files[entry.Name()] = true
		}
		if err == nil && strings.HasSuffix(name, "_test.go") {
			var text []byte
			text, err = os.ReadFile(name)
			tests.Write(text)
		}
		return err
	})
	assert.NoError(t, err)
	path := regexp.MustCompile("(?:`(\\w+)` in )?`(?:[^`\n]* )?(?:\\./)?((?:cmd|config|docs|examples|hack|internal|krew|pkg|test)/[^`\\s<]+)[^`\n]*`")
	file := regexp.MustCompile("`(?:[\\w-]+/)?([\\w-]+\\.go)`")
	test := regexp.MustCompile("`(Test[A-Z]\\w+)`")
	n := 0
	for name, p := range documents(t) {
		for _, m := range path.FindAllStringSubmatch(p.Prose, -1) {
			declaration, where := m[1], strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(m[2], "/..."), "/…"), ".,:;)")
			if kubernetesPaths.MatchString(where) || strings.ToLower(where) != where || strings.HasSuffix(where, "/") { // "internal/cli/VERB"
				continue
			}
			n++
			found, err := filepath.Glob(filepath.Join(root, where))
			if err != nil || len(found) == 0 {
				t.Errorf("%s: there is no %s", name, where)
				continue
			}
			if text, err := os.ReadFile(found[0]); declaration != "" && (err != nil || !regexp.MustCompile(`\b`+declaration+`\b`).Match(text)) {
				t.Errorf("%s: there is no %s in %s", name, declaration, where)
			}
		}
		for _, m := range file.FindAllStringSubmatch(p.Prose, -1) {
			if !files[m[1]] && name != "docs/internals/requirements.md" {
				t.Errorf("%s: there is no file %s", name, m[1])
			}
		}
		for _, m := range test.FindAllStringSubmatch(p.Prose, -1) {
			if n++; !strings.Contains(tests.String(), "func "+m[1]) {
				t.Errorf("%s: there is no test %s", name, m[1])
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d paths and tests were found", n)
	}
}
