//go:build release

package release

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/tmux"
)

// install unpacks the archive of this platform with tar, as a user would, and returns a PATH with the plugin and the
// control plane's kubectl.
func install(t *testing.T) (folder, path string) {
	t.Helper()
	folder = t.TempDir()
	out, err := exec.Command("tar", "-xzf", filepath.Join(dist, here(t).archive()), "-C", folder).CombinedOutput()
	assert.NoError(t, err, out)
	return folder, strings.Join([]string{folder, tools, "/usr/bin", "/bin"}, ":")
}

// serveJobs starts a fake API server that lists Jobs with these names, and returns a kubeconfig.
func serveJobs(t *testing.T, names ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/apis/batch/v1/namespaces/default/jobs" {
			http.NotFound(w, r)
			return
		}
		version, kind, list := "batch/v1", "Job", "JobList"
		if strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadataList") {
			version, kind, list = "meta.k8s.io/v1", "PartialObjectMetadata", "PartialObjectMetadataList"
		}
		var items []string
		for _, name := range names {
			items = append(items, fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":"default"}}`, version, kind, name))
		}
		fmt.Fprintf(w, `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"1"},"items":[%s]}`, version, list, strings.Join(items, ","))
	}))
	t.Cleanup(server.Close)
	config := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: test\ncontexts: [{name: test, context: {cluster: test, user: test}}]\n"+
		"clusters: [{name: test, cluster: {server: %q}}]\nusers: [{name: test, user: {}}]\n", server.URL)
	assert.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	return config
}

// Issue 7: a plugin unpacked from an archive works as `kubectl batchjob`.
func TestUnpackedPluginWorks(t *testing.T) {
	folder, path := install(t)
	config := serveJobs(t, "evaluate", "training-workers-0")
	for command, want := range map[string][]string{
		"plugin list":               {filepath.Join(folder, "kubectl-batchjob")},
		"batchjob version --client": {"v" + made.Version, made.Commit},
		"batchjob status -o name":   {"job.batch/evaluate\njob.batch/training-workers-0\n"},
		"batchjob status --help":    {"kubectl batchjob status"},
	} {
		cmd := exec.Command(filepath.Join(tools, "kubectl"), strings.Fields(command)...)
		cmd.Env = []string{"PATH=" + path, "KUBECONFIG=" + config, "HOME=" + t.TempDir()}
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, command, out)
		for _, text := range want {
			assert.Contains(t, string(out), text, command, out)
		}
	}
}

// Issue 7: … with completion in bash, zsh and fish, by the script in the archive.
func TestCompletionInShells(t *testing.T) {
	for _, shell := range []struct {
		command string
		setup   []string
		listed  string // prefix that the shell omits from listed names
	}{
		{"bash --norc --noprofile -i", []string{
			"PS1='ready> '", "source /usr/share/bash-completion/bash_completion", "source <(kubectl completion bash)",
		}, ""},
		{"zsh -f -i", []string{
			"PS1='ready> '", "autoload -Uz compinit && compinit -D", "source <(kubectl completion zsh)",
		}, ""},
		{"fish --no-config -i", []string{
			"function fish_prompt; echo -n 'ready> '; end", "set -g fish_autosuggestion_enabled 0", "kubectl completion fish | source",
		}, "training"},
	} {
		name, _, _ := strings.Cut(shell.command, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(name); err != nil {
				t.Fatal("these tests need bash, zsh and fish: ", err)
			}
			_, path := install(t)
			config := serveJobs(t, "evaluate", "training-workers-0", "training-workers-1")
			term := openTerminal(t, shell.command, "PATH="+path, "KUBECONFIG="+config)
			for _, line := range shell.setup {
				term.Write(line)
				term.Press("Enter")
			}
			term.clear()
			// The typed text, and the line after TAB.
			for _, line := range [][2]string{
				{"kubectl batchj", "kubectl batchjob "},
				{"kubectl batchjob expl", "kubectl batchjob explain-failure "},
				{"kubectl batchjob status ev", "kubectl batchjob status evaluate "},
				{"kubectl batchjob wait job/ev", "kubectl batchjob wait job/evaluate "},
				{"kubectl batchjob wait --for com", "kubectl batchjob wait --for complete "},
				{"kubectl batchjob status --all-names", "kubectl batchjob status --all-namespaces "},
				{"kubectl batchjob logs tr", "kubectl batchjob logs training-workers-"},
			} {
				term.Write(line[0])
				term.complete(strings.TrimSpace(line[1]))
				term.Write("X") // shows the position of the cursor
				term.Shows("ready> " + line[1] + "X")
				term.Press("C-u") // not C-c, which makes the terminal drop text typed after it
				term.clear()
			}
			// If there are several, a second TAB lists them.
			term.Write("kubectl batchjob logs tr")
			term.complete("kubectl batchjob logs training-workers-")
			term.complete(strings.TrimPrefix("training-workers-0", shell.listed))
			term.Shows(strings.TrimPrefix("training-workers-1", shell.listed))
			// A TAB that came too late may still run kubectl, which writes its cache into the folder that the test removes.
			term.Press("C-u")
			term.clear()
		})
	}
}

// terminal is a real terminal, run by tmux, with a shell.
type terminal struct{ *tmux.Terminal }

func openTerminal(t *testing.T, command string, environment ...string) terminal {
	t.Helper()
	// Via env, as tmux sets PATH itself. Without HISTFILE, a bash whose terminal is closed writes its history into the folder
	// that the test removes at that moment.
	args := []string{"-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "24", "env", "HOME=" + t.TempDir(), "HISTFILE=",
		"LC_ALL=C.UTF-8"}
	args = append(args, environment...)
	return terminal{tmux.Start(t, time.Minute, append(args, strings.Fields(command)...)...)}
}

// clear clears the screen and waits for the prompt.
func (term terminal) clear() {
	term.Press("C-l")
	term.Until("an empty line", func(screen string) bool { return strings.TrimSpace(screen) == "ready>" })
}

// complete presses TAB until a text is on the screen: completion gives up if the cluster does not answer within two
// seconds, which happens on a busy machine.
func (term terminal) complete(text string) {
	next := time.Now()
	term.Until(text, func(screen string) bool {
		if strings.Contains(screen, text) {
			return true
		}
		if time.Now().After(next) {
			term.Press("Tab")
			next = time.Now().Add(5 * time.Second)
		}
		return false
	})
}
