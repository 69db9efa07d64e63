//go:build linux

package docs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/docs/page"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/docs/shell"
)

// patience is the time limit of a block, on a machine that is busy with other tests.
const patience = 2 * time.Minute

// Issue 7, point 6: every command of the documentation behaves as its page says.
func TestCommandsDoWhatThePagesSay(t *testing.T) {
	names := []string{"README.md", "CONTRIBUTING.md", "examples/README.md"}
	for _, folder := range []string{"docs", "docs/internals"} {
		files, err := filepath.Glob(filepath.Join(shared.root, folder, "*.md"))
		assert.NoError(t, err)
		for _, file := range files {
			names = append(names, folder+"/"+filepath.Base(file))
		}
	}
	for _, name := range names {
		if !page.IsRun(name) || slices.Contains(page.Tour(), name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newVisit(t, shared, read(t, name)).run()
		})
	}
	t.Run("tour", func(t *testing.T) {
		t.Parallel()
		tour := &page.Page{Path: "tour"}
		for _, name := range page.Tour() {
			tour.Blocks = append(tour.Blocks, read(t, name).Blocks...)
		}
		newVisit(t, shared, tour).run()
	})
}

func read(t *testing.T, name string) *page.Page {
	t.Helper()
	p, err := page.Read(shared.root, name)
	assert.NoError(t, err)
	return p
}

// visit is one reader's visit of one page.
type visit struct {
	t       *testing.T
	cluster *cluster
	page    *page.Page
	// dir is the working directory of the reader's shell: it looks like the project's root, with copies of the files
	// that commands may change.
	dir       string
	namespace string
	// limit is the time limit of a block.
	limit       time.Duration
	environment []string
}

// wide matches commands with effects outside of a namespace, or that use ports of this machine. Pages with such commands
// run one after another.
var wide = regexp.MustCompile(`batchjob controller|config/|clusterrole|(create|delete) (namespace|ns)\b|validatingadmission|mutatingadmission|/releases/`)

func newVisit(t *testing.T, c *cluster, p *page.Page) *visit {
	t.Helper()
	for _, b := range p.Blocks {
		if b.IsCommands() && b.Run.Elsewhere == "" && wide.MatchString(b.Text) {
			c.whole.Lock()
			t.Cleanup(c.whole.Unlock)
			break
		}
	}
	home := t.TempDir()
	name := strings.TrimSuffix(strings.ToLower(strings.ReplaceAll(p.Path, "/", "-")), ".md")
	v := &visit{t: t, cluster: c, page: p, dir: filepath.Join(home, "project"), namespace: "page-" + name, limit: patience}
	v.layOut()
	v.kubectl("create", "namespace", v.namespace)
	kubeconfig := filepath.Join(home, "kubeconfig")
	data, err := os.ReadFile(filepath.Join(c.dir, "kubeconfig"))
	if err == nil {
		err = os.WriteFile(kubeconfig, data, 0o600)
	}
	assert.NoError(t, err)
	v.environment = v.environmentOf(home, kubeconfig)
	v.kubectl("config", "set-context", "--current", "--namespace", v.namespace)
	return v
}

// environmentOf returns the environment of the reader's shell.
func (v *visit) environmentOf(home, kubeconfig string) []string {
	tools := filepath.Join(home, "bin")
	assert.NoError(v.t, os.MkdirAll(tools, 0o700))
	for name, file := range map[string]string{
		"kubectl-batchjob":          v.cluster.binary,
		"kubectl_complete-batchjob": filepath.Join(v.cluster.root, "krew", "kubectl_complete-batchjob"),
	} {
		assert.NoError(v.t, os.Symlink(file, filepath.Join(tools, name)))
	}
	path := tools + ":" + v.cluster.binaries + ":" + os.Getenv("PATH")
	environment := append(os.Environ(),
		"KUBECONFIG="+kubeconfig, "DOCS_KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+filepath.Join(v.cluster.dir, "cache"),
		"PATH="+filepath.Join(v.cluster.root, "test", "product", "docs", "shims")+":"+path, "DOCS_REAL_PATH="+path, "DOCS_PROJECT="+v.cluster.root,
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=xterm-256color", "COLORTERM=truecolor")
	for _, name := range []string{"GOPATH", "GOMODCACHE", "GOCACHE"} { // They depend on HOME otherwise.
		value, err := exec.Command("go", "env", name).Output()
		assert.NoError(v.t, err)
		environment = append(environment, name+"="+strings.TrimSpace(string(value)))
	}
	return append(environment, "HOME="+home, "BATCHJOB_INTERACTIVE=true") // A reader is no CI system.
}

// layOut creates a folder that looks like the project: it copies the folders that pages refer to, and links the rest.
func (v *visit) layOut() {
	copied := map[string]bool{"config": true, "docs": true, "examples": true, "hack": true, "krew": true}
	entries, err := os.ReadDir(v.cluster.root)
	assert.NoError(v.t, err)
	assert.NoError(v.t, os.MkdirAll(v.dir, 0o700))
	for _, e := range entries {
		from, to := filepath.Join(v.cluster.root, e.Name()), filepath.Join(v.dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
			continue
		case copied[e.Name()]:
			err = os.CopyFS(to, os.DirFS(from))
		default:
			err = os.Symlink(from, to)
		}
		assert.NoError(v.t, err)
	}
}

// kubectl runs a kubectl command of the test itself.
func (v *visit) kubectl(args ...string) {
	v.t.Helper()
	cmd := exec.Command(filepath.Join(v.cluster.binaries, "kubectl"), args...)
	if cmd.Env = v.environment; cmd.Env == nil {
		cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(v.cluster.dir, "kubeconfig"))
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		v.t.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
}

func (v *visit) run() {
	v.runAnd(nil)
}

// runAnd runs the blocks of the page, and then more blocks in the same shell.
func (v *visit) runAnd(more []page.Block) {
	session, err := shell.Start(v.dir, v.t.TempDir(), v.environment)
	assert.NoError(v.t, err)
	defer session.Close()
	// Finished pages' Jobs would keep nodes and controllers busy.
	defer v.kubectl("delete", "jobs", "--all", "--wait=false")
	for _, b := range slices.Concat(v.page.Blocks, more) {
		ctx, cancel := context.WithTimeout(context.Background(), v.limit)
		err := v.block(ctx, session, b)
		cancel()
		if err != nil {
			v.t.Fatal(err) // Later blocks may depend on it.
		}
	}
}

func (v *visit) block(ctx context.Context, session *shell.Session, b page.Block) error {
	if b.File != "" {
		file := filepath.Join(v.dir, b.File)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(b.Text), 0o600); err != nil {
			return err
		}
	}
	switch {
	case b.Lang == "yaml":
		return v.manifests(b)
	case !b.IsCommands():
		return nil
	case b.Run.Elsewhere != "":
		v.cluster.note("not run: %s: %s", b.Where(), b.Run.Elsewhere)
	case b.Run.Archives && !v.cluster.archives:
		v.cluster.note("only read: %s: dist has no archives; run: make snapshot", b.Where())
	default:
		if b.IsForeign() {
			if there, _ := exec.LookPath(b.Lang); there == "" {
				v.cluster.note("not run: %s: there is no %s", b.Where(), b.Lang)
				return nil
			}
			b.Text = fmt.Sprintf("%s <<'END OF BLOCK'\n%sEND OF BLOCK\n", b.Lang, b.Text)
		}
		start := time.Now()
		err := session.Run(ctx, b)
		v.t.Logf("%s took %.1f s", b.Where(), time.Since(start).Seconds())
		return err
	}
	if b.Lang != "sh" && b.Lang != "console" {
		return nil
	}
	if _, err := shell.Split(ctx, b.Commands()); err != nil {
		return fmt.Errorf("%s: %w", b.Where(), err)
	}
	return nil
}
