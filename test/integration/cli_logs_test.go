package integration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// logServer is the part of a kubelet that serves logs, of a node that the API server knows.
type logServer struct {
	node string

	mu      sync.Mutex
	lines   map[string][]string // by pod, with timestamps
	ended   map[string]bool
	changed chan struct{}
}

func (f *fixture) startLogServer() *logServer {
	f.t.Helper()
	l := &logServer{node: f.namespace + "-node", lines: map[string][]string{}, ended: map[string]bool{}, changed: make(chan struct{})}
	server := httptest.NewTLSServer(http.HandlerFunc(l.serve))
	f.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	at, err := url.Parse(server.URL)
	if err != nil {
		f.t.Fatal(err)
	}
	host, port, err := net.SplitHostPort(at.Host)
	if err != nil {
		f.t.Fatal(err)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		f.t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: l.node}}
	if node, err = f.client.CoreV1().Nodes().Create(f.t.Context(), node, metav1.CreateOptions{}); err != nil {
		f.t.Fatalf("registering a node: %v", err)
	}
	f.t.Cleanup(func() { _ = f.client.CoreV1().Nodes().Delete(context.Background(), l.node, metav1.DeleteOptions{}) })
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: host}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(number)
	if _, err := f.client.CoreV1().Nodes().UpdateStatus(f.t.Context(), node, metav1.UpdateOptions{}); err != nil {
		f.t.Fatalf("telling where the node serves logs: %v", err)
	}
	return l
}

// schedules puts the pods of a Job on the node.
func (l *logServer) schedules(s *batchv1.JobSpec) { s.Template.Spec.NodeName = l.node }

// write appends lines to the log of a pod, all in the same second.
func (l *logServer) write(pod *corev1.Pod, lines ...string) {
	l.change(func() {
		for _, line := range lines {
			at := time.Unix(1770000000, int64(len(l.lines[pod.Name]))).UTC()
			l.lines[pod.Name] = append(l.lines[pod.Name], at.Format("2006-01-02T15:04:05.000000000Z07:00")+" "+line)
		}
	})
}

func (l *logServer) end(pod *corev1.Pod) { l.change(func() { l.ended[pod.Name] = true }) }

func (l *logServer) change(how func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	how()
	close(l.changed)
	l.changed = make(chan struct{})
}

// serve answers /containerLogs/NAMESPACE/POD/CONTAINER.
func (l *logServer) serve(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if len(parts) != 4 || parts[0] != "containerLogs" || parts[3] != containerName {
		http.NotFound(w, r)
		return
	}
	query := r.URL.Query()
	w.WriteHeader(http.StatusOK)
	for sent := 0; ; {
		l.mu.Lock()
		lines, ended, changed := l.lines[parts[2]], l.ended[parts[2]], l.changed
		l.mu.Unlock()
		for ; sent < len(lines); sent++ {
			line := lines[sent]
			if query.Get("timestamps") != "true" {
				_, line, _ = strings.Cut(line, " ")
			}
			_, _ = fmt.Fprintln(w, line)
		}
		w.(http.Flusher).Flush()
		if ended || query.Get("follow") != "true" {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// The API server goes away while logs are followed, a pod fails meanwhile, and is tried
// again: no line is lost, and none comes twice.
func TestLogsSurviveAPIServerRestart_CLI_07(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	logs := f.startLogServer()
	proxy := startProxy(t, apiServer.Config)
	f.create(newJob(indexed(1), perIndexLimit(1), logs.schedules))
	first := f.untilActive(1)
	f.kubelet.run(first...)
	logs.write(first[0], "one", "two \x1b[31m")
	c := f.startPlugin("logs", "a", "-f", "--server", "https://"+proxy.addr)
	c.untilSays(&c.out, "[index 0 attempt 1] one\n[index 0 attempt 1] two \\x1b[31m\n")
	proxy.close()
	c.untilSays(&c.errOut, "Lost connection")
	logs.write(first[0], "three")
	logs.end(first[0])
	f.kubelet.fail(first...)
	second := f.untilActive(1)
	logs.write(second[0], "again")
	f.kubelet.run(second...)
	proxy.open()
	c.untilSays(&c.out, "[index 0 attempt 1] three\n")
	c.untilSays(&c.out, "[index 0 attempt 2] again\n")
	logs.write(second[0], "last")
	logs.end(second[0])
	f.kubelet.succeed(second...)
	f.untilComplete("a", 1, 1)
	c.wantEnd(0, "[index 0 attempt 2] last\n", "Reconnected")
	if out := c.out.String(); strings.Count(out, "\n") != 5 {
		t.Errorf("stdout:\n%s", out)
	}
	f.startPlugin("logs", "a", "--failed", "--tail=10", "--timestamps").wantEnd(0, "[index 0 attempt 1] 2026-02-02T02:40:00.000000002Z three\n", "")
}

// Reading logs needs get of the Job, list of pods and get of pods/log; what is missing is named.
func TestLogsPermissions_CLI_08(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.startController()
	logs := f.startLogServer()
	f.create(newJob(completions(1), logs.schedules))
	pods := f.untilActive(1)
	f.kubelet.run(pods...)
	logs.write(pods[0], "text")
	user := "reader-" + f.namespace
	f.allow(user, rbacv1.PolicyRule{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"get"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}})
	// The API server takes a moment to notice a role.
	var denied *command
	f.until("the user may read Jobs and pods", func() bool {
		denied = f.startPlugin("logs", "a", "--as", user)
		return denied.end() == 1 && strings.Contains(denied.errOut.String(), "you may not get pods/log")
	})
	if got := denied.errOut.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "kubectl auth can-i get pods --subresource=log -n "+f.namespace) {
		t.Errorf("stderr %q", got)
	}
	f.allow(user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}})
	f.until("the user may read logs", func() bool {
		c := f.startPlugin("logs", "a", "--as", user)
		return c.end() == 0 && strings.HasSuffix(c.out.String(), "] text\n")
	})
}

// allow gives a user rights in the namespace.
func (f *fixture) allow(user string, rules ...rbacv1.PolicyRule) {
	f.t.Helper()
	role, err := f.client.RbacV1().Roles(f.namespace).Create(f.t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: "role-"}, Rules: rules}, metav1.CreateOptions{})
	if err == nil {
		_, err = f.client.RbacV1().RoleBindings(f.namespace).Create(f.t.Context(), &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "binding-"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		f.t.Fatalf("making a role: %v", err)
	}
}
