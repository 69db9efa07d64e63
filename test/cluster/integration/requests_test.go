package integration

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/goldenfile"
)

// measuredVerbs are the command lines of docs/scaling.md. Job NAME has failed. A verb that follows Jobs is interrupted
// once it has opened its watches and requested a log, if it does that.
var measuredVerbs = []struct {
	args    string
	watches int
}{
	{"status", 0},
	{"status -w", 1},
	{"status NAME", 0},
	{"why NAME", 0},
	{"why -l team=ml", 0},
	{"watch --plain", 1},
	{"watch NAME --plain", 4},
	{"wait NAME", 0},
	{"logs NAME --index 0", 0},
	{"retry NAME --dry-run=client", 0},
	{"retry NAME --failed-only --dry-run=client", 0},
	{"what-if NAME --set backoffLimitPerIndex=0", 0},
	{"bundle NAME -f FILE", 0},
	{"__complete why ''", 0},
	{"__complete why NAME --pod ''", 0},
	{"clean", 0},
	{"status cronjob/NAME", 0},
}

// cost is a verb's load on the API server: the number of different requests, since the number of polls depends on time,
// and the bytes of the responses as sent, most of them compressed.
type cost struct {
	requests int
	bytes    int64
}

// counter is a proxy in front of the API server that counts requests and bytes.
type counter struct {
	server *httptest.Server

	// enough is called when all expected watches are open and a log was requested; for a list, which has one watch, when
	// failed pods and events were read.
	enough   func()
	expected int

	mu      sync.Mutex
	asked   map[string]bool
	watches int
	logs    int
	read    map[string]bool // resources of which a list was read to its end
	bytes   int64
}

func startCounter(t *testing.T, expected int, enough func()) *counter {
	t.Helper()
	target, err := url.Parse(apiServer.Config.Host)
	assert.NoError(t, err)
	config := rest.CopyConfig(apiServer.Config)
	config.DisableCompression = true // The client requests compression itself.
	transport, err := rest.TransportFor(config)
	assert.NoError(t, err)
	c := &counter{asked: map[string]bool{}, read: map[string]bool{}, expected: expected, enough: enough}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			r.Body = &countedBody{ReadCloser: r.Body, counter: c, resource: path.Base(r.Request.URL.Path)}
			c.note(r.Request)
			return nil
		},
	}
	c.server = httptest.NewServer(proxy)
	t.Cleanup(c.server.Close)
	return c
}

func (c *counter) note(r *http.Request) {
	query := r.URL.Query()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case query.Get("watch") == "true":
		c.watches++
	case strings.HasSuffix(r.URL.Path, "/log"):
		c.logs++
	}
	if r.URL.Path != "/livez" {
		query.Del("resourceVersion")
		c.asked[r.Method+" "+r.URL.Path+"?"+query.Encode()] = true
	}
	c.check()
}

// check must be called with mu held.
func (c *counter) check() {
	listed := c.expected == 1 && c.read["pods"] && c.read["events"]
	if c.expected > 0 && c.watches >= c.expected && (listed || c.logs > 0) {
		c.enough()
	}
}

type countedBody struct {
	io.ReadCloser
	counter  *counter
	resource string
}

func (b *countedBody) Close() error {
	b.counter.mu.Lock()
	defer b.counter.mu.Unlock()
	b.counter.read[b.resource] = true
	b.counter.check()
	return b.ReadCloser.Close()
}

func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.counter.mu.Lock()
	defer b.counter.mu.Unlock()
	b.counter.bytes += int64(n)
	return n, err
}

// measure runs a verb, and interrupts it when it has opened the given number of watches; 0 is for verbs that end by
// themselves.
func measure(t *testing.T, namespace, job, args string, watches int) cost {
	t.Helper()
	ctx, cancel := context.WithTimeout(cmdutil.WithCompletionTimeout(t.Context(), patience), patience)
	defer cancel()
	c := startCounter(t, watches, cancel)
	dir := t.TempDir()
	words := strings.Fields(strings.NewReplacer("NAME", job, "FILE", filepath.Join(dir, "bundle.tar.gz")).Replace(args))
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
	}
	last := len(words)
	if words[0] == "__complete" {
		last = 2 // The last word is completed.
	}
	words = slices.Insert(words, last, "-n", namespace, "--kubeconfig", adminKubeconfig(t), "--server", c.server.URL)
	var out, errOut bytes.Buffer
	_ = cli.Execute(ctx, words, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}) // The Job has failed.
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asked) == 0 || ctx.Err() == context.DeadlineExceeded {
		t.Errorf("%q: %d requests, %v\n%.500s%.500s", words, len(c.asked), ctx.Err(), out.String(), errOut.String())
	}
	for request := range c.asked {
		if strings.Contains(request, "/pods?") && !strings.Contains(request, "Selector=") {
			t.Errorf("%q lists pods that are not of its Jobs: %s", words, request)
		}
	}
	return cost{len(c.asked), c.bytes}
}

// row returns a line of the table.
func row(args string, costs []cost) string {
	line := "| `" + args + "` "
	for _, c := range costs {
		line += fmt.Sprintf("| %s | %s ", wording.Thousands(int32(c.requests)), inBytes(c.bytes))
	}
	return line + "|\n"
}

func inBytes(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// tableOfVerbs matches the table of requests of a page.
var tableOfVerbs = regexp.MustCompile(`(?s)(\| verb \| 10 pods: [^\n]*\n\|---(?:\|---:)+\|\n).*?\n\n`)

// withRows replaces the rows of that table.
func withRows(page []byte, rows string) []byte {
	return tableOfVerbs.ReplaceAll(page, []byte("${1}"+rows+"\n"))
}

func TestOnlyTheTableOfVerbsIsRewritten(t *testing.T) {
	page := "A\n\n| c | d |\n|---|---:|\n| 5 | 6 |\n\nB\n\n| verb | 10 pods: requests |\n|---|---:|\n| 1 | 2 |\n| 3 | 4 |\n\nC\n"
	want := strings.Replace(page, "| 1 | 2 |\n| 3 | 4 |\n", "| 7 | 8 |\n", 1)
	assert.Equal(t, string(withRows([]byte(page), "| 7 | 8 |\n")), want)
}

// makeCronJobOf creates a CronJob that owns the Job of its name.
func makeCronJobOf(t *testing.T, client kubernetes.Interface, namespace, name string) {
	t.Helper()
	job, err := client.BatchV1().Jobs(namespace).Get(t.Context(), name, metav1.GetOptions{})
	assert.NoError(t, err)
	template := batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: *job.Spec.Template.DeepCopy()}}
	template.Spec.Template.Labels = nil
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.CronJobSpec{Schedule: "0 3 * * *", JobTemplate: template}}
	if cronJob, err = client.BatchV1().CronJobs(namespace).Create(t.Context(), cronJob, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(cronJob, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	if _, err := client.BatchV1().Jobs(namespace).Update(t.Context(), job, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// POL-01, POL-02: docs/scaling.md has the load of each verb for Jobs of 10, 1,000 and 100,000 pods. -rewrite measures it: alone, with
// -run TestRequests.
func TestRequestsAreAsDocumented(t *testing.T) {
	client := newClient(t, apiServer.Config, "user")
	namespaces, sizes := map[int32]string{}, []int32{10, 1000}
	if goldenfile.Rewrites() {
		sizes = append(sizes, 100_000)
	}
	for _, size := range sizes {
		namespaces[size] = newNamespace(t, client)
		storeManyPods(t, client, namespaces[size], "train", size)
	}
	path := filepath.Join("..", "..", "..", "docs", "scaling.md")
	page, err := os.ReadFile(path)
	assert.NoError(t, err)
	table := ""
	for _, verb := range measuredVerbs {
		var costs []cost
		if strings.Contains(verb.args, "cronjob/") { // It is the last one, because the Job then has an owner.
			for _, namespace := range namespaces {
				makeCronJobOf(t, client, namespace, "train")
			}
		}
		for _, size := range sizes {
			costs = append(costs, measure(t, namespaces[size], "train", verb.args, verb.watches))
		}
		table += row(verb.args, costs)
		var documented []string
		for line := range strings.Lines(string(page)) {
			if cells := strings.Split(line, "|"); len(cells) > 5 && strings.TrimSpace(cells[1]) == "`"+verb.args+"`" {
				documented = []string{strings.TrimSpace(cells[2]), strings.TrimSpace(cells[4])}
			}
		}
		got := []string{fmt.Sprint(costs[0].requests), fmt.Sprint(costs[1].requests)}
		if !goldenfile.Rewrites() && strings.Join(documented, " ") != strings.Join(got, " ") {
			t.Errorf("%s: %q requests for 10 and 1,000 pods, and docs/scaling.md has %q", verb.args, got, documented)
		}
	}
	if goldenfile.Rewrites() {
		page = withRows(page, table)
		assert.NoError(t, os.WriteFile(path, page, 0o644))
	}
}
