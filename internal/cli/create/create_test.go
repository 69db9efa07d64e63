package create

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

const (
	createSeveral = "testdata/create/several.yaml"
	// severalNote is about the first of its Jobs.
	severalNote = "note: testdata/create/several.yaml:12:5: rule names have no effect here: spec.managedBy does not assign the Job to kubectl batchjob controller\n"
)

// creations is an API server that accepts or rejects new objects.
type creations struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	bodies   []map[string]any
	leases   func() (any, *clitest.Status) // returns the list of Leases; nil for an empty one
	answer   func(name string, body map[string]any) *clitest.Status
	causes   []any
	sources  map[string]string // JSON of objects that exist, by path
	came     chan struct{}
	hold     chan struct{}
}

func newCreations(t *testing.T) *creations {
	t.Helper()
	c := &creations{came: make(chan struct{}, 100)}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *creations) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/leases") {
		var list any = coordinationv1.LeaseList{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "LeaseList"}}
		if c.leases != nil {
			var status *clitest.Status
			if list, status = c.leases(); status != nil {
				clitest.WriteStatus(w, status, "")
				return
			}
		}
		clitest.WriteJSON(w, http.StatusOK, list)
		return
	}
	if r.Method == http.MethodGet {
		if source, is := c.sources[r.URL.Path]; is {
			clitest.WriteJSON(w, http.StatusOK, json.RawMessage(source))
		} else if strings.Contains(r.URL.Path, "jobs/") {
			clitest.WriteStatus(w, &clitest.Status{Code: 404, Reason: "NotFound", Message: "not found"}, path.Base(r.URL.Path))
		} else {
			clitest.ServeKinds(w, r)
		}
		return
	}
	data, _ := io.ReadAll(r.Body)
	body := map[string]any{}
	if err := json.Unmarshal(data, &body); err != nil {
		clitest.WriteStatus(w, &clitest.Status{Code: 400, Reason: "BadRequest", Message: err.Error()}, "")
		return
	}
	c.came <- struct{}{}
	if c.hold != nil {
		<-c.hold
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	metadata := body["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if name == "" {
		name = fmt.Sprint(metadata["generateName"]) + "x7"
	}
	c.requests = append(c.requests, r.Method+" "+r.URL.String())
	c.bodies = append(c.bodies, body)
	if c.answer != nil {
		if status := c.answer(name, body); status != nil {
			object := clitest.StatusObject(status, name)
			object["details"].(map[string]any)["causes"] = c.causes
			clitest.WriteJSON(w, status.Code, object)
			return
		}
	}
	metadata["name"], metadata["uid"] = name, "u"
	clitest.WriteJSON(w, http.StatusCreated, body)
}

func (c *creations) run(t *testing.T, args ...string) clitest.Result {
	t.Helper()
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, c.URL))
	return program.Run(t, nil, append([]string{"create"}, args...)...)
}

// Requirements: PFN-23
func TestCreateMovesNamesToTheAnnotation(t *testing.T) {
	api := newCreations(t)
	got := api.run(t, "-f", createSeveral)
	if got.Code != cmdutil.ExitDone || got.Out != "job.batch/named created\ncronjob.batch/nightly created\njob.batch/run-x7 created\n" || got.ErrOut != severalNote {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
	const query = "?fieldManager=kubectl-batchjob&fieldValidation=Strict"
	want := []string{"POST /apis/batch/v1/namespaces/ns1/jobs" + query, "POST /apis/batch/v1/namespaces/ns1/cronjobs" + query, "POST /apis/batch/v1/namespaces/ns1/jobs" + query}
	if fmt.Sprint(api.requests) != fmt.Sprint(want) {
		t.Errorf("%q", api.requests)
	}
	sent, _ := json.Marshal(api.bodies)
	for _, part := range []string{`"batchjob.dev/pod-failure-policy-rule-names":"1=ExitCode2"`, `"managedBy":"example.com/other"`, `"0=Evicted"`} {
		if !strings.Contains(string(sent), part) {
			t.Errorf("%s is not in %s", part, sent)
		}
	}
	if strings.Count(string(sent), "managedBy") != 1 || strings.Contains(string(sent), `"name":"ExitCode2"`) || strings.Contains(string(sent), `"status"`) {
		t.Errorf("%s", sent)
	}
}

// create prepares the Jobs of a JobSet in the same way as a Job (issue 17).
// Requirements: PFN-23, MGB-02
func TestCreateSetsUpTheJobsOfAJobSet(t *testing.T) {
	api, path := newCreations(t), clitest.WriteManifest(t, clitest.JobSet)
	got := api.run(t, "-f", path, "--managed-by=batchjob.dev/controller", "--force")
	if got.Code != cmdutil.ExitDone || got.Out != "jobset.jobset.x-k8s.io/train created\n" || got.ErrOut != "" {
		t.Errorf("exit %d, stdout %q, stderr %q", got.Code, got.Out, got.ErrOut)
	}
	if want := "POST /apis/jobset.x-k8s.io/v1alpha2/namespaces/ns1/jobsets?"; !strings.HasPrefix(api.requests[0], want) {
		t.Errorf("%q", api.requests)
	}
	sent, _ := json.Marshal(api.bodies)
	if strings.Count(string(sent), `"managedBy":"batchjob.dev/controller"`) != 2 || strings.Contains(string(sent), `"name":"Broken"`) ||
		!strings.Contains(string(sent), `"template":{"metadata":{"annotations":{"batchjob.dev/pod-failure-policy-rule-names":"0=Broken"}},"spec":{"backoffLimit":0,"completions":2,`) ||
		strings.Contains(string(sent), "OnFailure") {
		t.Errorf("%s", sent)
	}
	plain := program.Run(t, nil, "create", "-f", path, "--dry-run=client", "-o", "name", "--managed-by=")
	if plain.Out != "jobset.jobset.x-k8s.io/train\n" {
		t.Errorf("%q, %q", plain.Out, plain.ErrOut)
	}
	wrong := clitest.WriteManifest(t, strings.Replace(clitest.JobSet, "values: [2]", "values: [0]", 1))
	if got := program.Run(t, nil, "create", "-f", wrong, "--dry-run=client"); !strings.Contains(got.ErrOut, "job.yaml:15:105: the API server would reject this: ") {
		t.Errorf("%q", got.ErrOut)
	}
	none := clitest.NewAPI(t)
	if got := program.Run(t, none, "create", "-f", path); !strings.Contains(got.ErrOut, "the cluster has no JobSets (") || !strings.Contains(got.ErrOut, "; install JobSet (https://jobset.sigs.k8s.io), or use another context") {
		t.Errorf("%q", got.ErrOut)
	}
}

func TestCreateSendsItsOptions(t *testing.T) {
	for _, c := range []struct{ args, path, out string }{
		{"--dry-run=server", "/apis/batch/v1/namespaces/ns1/jobs?dryRun=All&fieldManager=kubectl-batchjob&fieldValidation=Strict", "job.batch/named created (server dry run)\n"},
		{"-n ns2 --validate=warn", "/apis/batch/v1/namespaces/ns2/jobs?fieldManager=kubectl-batchjob&fieldValidation=Warn", "job.batch/named created\n"},
		{"--validate=false --field-manager=me", "/apis/batch/v1/namespaces/ns1/jobs?fieldManager=me&fieldValidation=Ignore", "job.batch/named created\n"},
		{"--validate -o name", "/apis/batch/v1/namespaces/ns1/jobs?fieldManager=kubectl-batchjob&fieldValidation=Strict", "job.batch/named\n"},
		{"-o jsonpath={.metadata.uid}", "/apis/batch/v1/namespaces/ns1/jobs?fieldManager=kubectl-batchjob&fieldValidation=Strict", "u"},
	} {
		api := newCreations(t)
		got := api.run(t, append([]string{"-f", createSeveral}, strings.Fields(c.args)...)...)
		if got.Code != cmdutil.ExitDone || len(api.requests) != 3 || api.requests[0] != "POST "+c.path || !strings.HasPrefix(got.Out, c.out) {
			t.Errorf("%s: exit %d, %q, %q, %q", c.args, got.Code, api.requests, got.Out, got.ErrOut)
		}
	}
}

// No kubeconfig is read, and the manifests are printed for kubectl apply, in order, including unknown fields.
// Requirements: PFN-23
func TestDryRunOnTheClientPrintsManifests(t *testing.T) {
	t.Setenv("KUBECONFIG", "/nonexistent")
	got := program.Run(t, nil, "create", "-f", createSeveral, "--validate=ignore", "--dry-run=client", "-o", "yaml")
	clitest.Golden(t, "create/several.golden", got.Out)
	if got.Code != cmdutil.ExitDone || got.ErrOut != severalNote {
		t.Errorf("exit %d, stderr %q", got.Code, got.ErrOut)
	}
	plain := program.Run(t, nil, "create", "-f", createSeveral, "--validate=ignore", "--dry-run=client")
	if plain.Out != "job.batch/named created (dry run)\ncronjob.batch/nightly created (dry run)\njob.batch/run-<generated> created (dry run)\n" {
		t.Errorf("%q", plain.Out)
	}
	if ns := program.Run(t, nil, "create", "-f", createSeveral, "--validate=ignore", "--dry-run=client", "-n", "x", "-o", "jsonpath={.metadata.namespace}"); ns.Out != "xxx" {
		t.Errorf("%q, %q", ns.Out, ns.ErrOut)
	}
}

// Without the flag, the built-in controller runs Jobs without managedBy, as no other controller is sure to exist.
//
// Requirements: MGB-02, MGB-17
func TestCreateSetsManagedByOnlyIfAsked(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", " example.com/other "},
		{"--managed-by=a.b/c", "a.b/c a.b/c a.b/c"},
		{"--managed-by=", " example.com/other "},
	} {
		args := append([]string{"create", "-f", createSeveral, "--validate=ignore", "--dry-run=client", "-o", "jsonpath={.spec.managedBy}{.spec.jobTemplate.spec.managedBy} "}, strings.Fields(c.args)...)
		if got := program.Run(t, nil, args...); strings.TrimSuffix(got.Out, " ") != strings.TrimSuffix(c.want, " ") && got.Out != c.want+" " {
			t.Errorf("%s: %q, %q", c.args, got.Out, got.ErrOut)
		}
	}
}

// managedBy cannot be changed, so a Job whose controller does not seem to be running would wait forever.
//
// Requirements: MGB-17
func TestJobOfADeadControllerIsNotCreated(t *testing.T) {
	const name = "batchjob.dev/controller"
	hashes := map[string]string{name: "dd238d213a296c2f", "a.b/c": "77a1973556866c63"}
	leaseIn := func(namespace, managedBy, holder string, age time.Duration) coordinationv1.Lease {
		return coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: "l", CreationTimestamp: metav1.NewTime(clitest.Now().Add(-max(age, 0))),
				Labels: map[string]string{"batchjob.dev/leases": hashes[managedBy], "batchjob.dev/shards": "1", "batchjob.dev/shard": "0"},
			},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: ptr.To(metav1.NewMicroTime(clitest.Now().Add(-age)))},
		}
	}
	list := func(leases ...coordinationv1.Lease) func() (any, *clitest.Status) {
		return func() (any, *clitest.Status) {
			return coordinationv1.LeaseList{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "LeaseList"}, Items: leases}, nil
		}
	}
	lease := func(managedBy, holder string, age time.Duration) func() (any, *clitest.Status) {
		return list(leaseIn("batchjob-system", managedBy, holder, age))
	}
	refused := func() (any, *clitest.Status) { return nil, &clitest.Status{Code: 403, Reason: "Forbidden"} }
	const advice = "; nothing was created; start it with --leader-elect, leave spec.managedBy unset for the controller built into Kubernetes, or use --force\n"
	const dead = "error: PATH:4:1: controller batchjob.dev/controller does not seem to be running "
	for what, tc := range map[string]struct {
		leases   func() (any, *clitest.Status)
		args     string
		manifest string // spec.managedBy in it
		errOut   string
		created  bool
	}{
		"no Lease":                   {args: "--managed-by=" + name, errOut: dead + "(it has no Lease)" + advice},
		"an expired Lease":           {leases: lease(name, "me", 3*time.Hour), args: "--managed-by=" + name, errOut: dead + "(its Lease batchjob-system/l was last renewed 3h ago)" + advice},
		"a released Lease":           {leases: lease(name, "", time.Minute), args: "--managed-by=" + name, errOut: dead + "(its Lease batchjob-system/l has no holder)" + advice},
		"a Lease of the future":      {leases: lease(name, "me", -time.Hour), args: "--managed-by=" + name, errOut: dead + "(its Lease batchjob-system/l has a renewTime in the future)" + advice},
		"a live Lease":               {leases: lease(name, "me", time.Second), args: "--managed-by=" + name, created: true},
		"another's live Lease":       {leases: lease("a.b/c", "me", time.Second), args: "--managed-by=" + name, errOut: dead + "(it has no Lease)" + advice},
		"the manifest names it":      {manifest: name, errOut: "error: PATH:5:14: controller batchjob.dev/controller does not seem to be running (it has no Lease)" + advice},
		"with --force":               {args: "--force --managed-by=" + name, created: true},
		"a dry run":                  {args: "--dry-run=server --managed-by=" + name, created: true},
		"another program's":          {manifest: "kueue.x-k8s.io/multikueue", created: true},
		"the built-in one":           {manifest: "kubernetes.io/job-controller", created: true},
		"ours under another name":    {leases: lease("a.b/c", "me", time.Hour), manifest: "a.b/c", errOut: "error: PATH:5:14: controller a.b/c does not seem to be running (its Lease batchjob-system/l was last renewed 1h ago)" + advice},
		"it has moved":               {leases: list(leaseIn("batchjob-system", name, "me", time.Hour), leaseIn("ops", name, "me", time.Second)), args: "--managed-by=" + name, created: true},
		"another's, says a user":     {leases: list(leaseIn("team-x", "a.b/c", "me", time.Hour)), manifest: "a.b/c", created: true},
		"Leases that cannot be read": {leases: refused, args: "--managed-by=" + name, created: true, errOut: "note: cannot check whether controller batchjob.dev/controller is running: no permission to list leases\n"},
	} {
		api, manifest := newCreations(t), clitest.PlainJob
		api.leases = tc.leases
		if tc.manifest != "" {
			manifest = strings.Replace(manifest, "spec:\n", "spec:\n  managedBy: "+tc.manifest+"\n", 1)
		}
		path := clitest.WriteManifest(t, manifest)
		got := api.run(t, append([]string{"-f", path}, strings.Fields(tc.args)...)...)
		if errOut := strings.ReplaceAll(got.ErrOut, path, "PATH"); errOut != tc.errOut || len(api.requests) > 0 != tc.created || (got.Code == cmdutil.ExitDone) != tc.created {
			t.Errorf("%s: exit %d, %q, %q", what, got.Code, api.requests, errOut)
		}
	}
}

// Requirements: PFN-16, PFN-18, PFN-24
func TestCreateRefusesIllegalNames(t *testing.T) {
	const job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, namespace: ns9}\n"
	for _, c := range []struct{ text, args, want string }{
		{job + "spec: {podFailurePolicy: {rules: [{name: a-b}, {name: A}, {name: A}]}}", "", "error: PATH:4:42: rule 0 \"a-b\": '-' is not allowed, only letters, digits, '_', ',' and ':'\nerror: PATH:4:66: rule 2 \"A\": rule 1 has the same name\n"},
		{job, "-n other", "error: PATH:3:32: the namespace from the provided object \"ns9\" does not match the namespace \"other\". You must pass '--namespace=ns9' to perform this operation.\n"},
		{"apiVersion: v1\nkind: Service\n", "", "error: PATH:2:7: this command creates only Jobs, CronJobs and JobSets, not a Service of v1; use: kubectl create -f\n"},
		{"apiVersion: batch/v1beta1\nkind: CronJob\n", "", "error: PATH:1:13: batch/v1beta1 is no longer served; write apiVersion: batch/v1, kind: CronJob\n"},
		{"apiVersion: batch/v1\nkind: Job\nspec: {}\n", "", "error: PATH:1:1: metadata has neither name nor generateName\n"},
		{"apiVersion: batch/v1\nkind: job\n", "", "error: PATH:2:7: there is no kind job in batch/v1; write apiVersion: batch/v1, kind: Job\n"},
		{"# nothing\n", "", "error: no Jobs, CronJobs or JobSets in PATH; check the files given with -f\n"},
		{"a: [", "", "error: PATH:1:4: not readable as YAML: \"[\" is not closed; add ]\n"},
		{"apiVersion: v1\nkind: \"\\e[31m\"\n", "", "error: PATH:2:7: this command creates only Jobs, CronJobs and JobSets, not a \\x1b[31m of v1; use: kubectl create -f\n"},
	} {
		path := clitest.WriteManifest(t, c.text)
		got := program.Run(t, nil, append([]string{"create", "--dry-run=client", "-f", path}, strings.Fields(c.args)...)...)
		if errOut := strings.ReplaceAll(got.ErrOut, path, "PATH"); got.Code != cmdutil.ExitError || got.Out != "" || errOut != c.want {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", c.text, got.Code, got.Out, errOut)
		}
	}
	program.Rejects(t, nil, "create", map[string]string{
		"": "name a file with -f", "-f a --dry-run=all": "--dry-run=all: must be none, client or server", "-f a --validate=no": "--validate=no: must be strict, warn or ignore",
		"-f a --managed-by=x": "--managed-by: ", "-f a -o nice": `unknown output format "nice"`, "a": `unexpected argument "a"`, "-f a -o jsonpath={": "-o jsonpath={: ",
		"-f a --dry-run=client -n A_b": "namespace \"A_b\": use at most 63 lowercase letters", "-f a -n a.b": "namespace \"a.b\": use at most 63",
	})
}

// A failure does not keep other objects from being created; the API server's errors get a position in the file.
// Requirements: CLI-05
func TestCreateGoesOnAfterAFailure(t *testing.T) {
	api := newCreations(t)
	api.causes = []any{map[string]any{"field": "spec.podFailurePolicy.rules[1].action", "message": "Unsupported value"}, map[string]any{"field": "spec.template.spec.restartPolicy", "message": "Required value"}}
	api.answer = func(name string, _ map[string]any) *clitest.Status {
		switch name {
		case "named":
			return &clitest.Status{Code: 422, Reason: "Invalid", Message: "Job.batch is invalid"}
		case "nightly":
			return &clitest.Status{Code: 409, Reason: "AlreadyExists", Message: `cronjobs.batch "nightly" already exists`}
		}
		return nil
	}
	got := api.run(t, "-f", createSeveral)
	want := severalNote + `error: testdata/create/several.yaml:17:19: the API server rejected spec.podFailurePolicy.rules[1].action: Unsupported value
error: testdata/create/several.yaml:21:24: the API server rejected spec.template.spec.restartPolicy: Required value
error: testdata/create/several.yaml:24:3: the API server answered: cronjobs.batch "nightly" already exists (AlreadyExists)
`
	if got.Code != cmdutil.ExitError || got.Out != "job.batch/run-x7 created\n" || got.ErrOut != want {
		t.Errorf("exit %d, stdout %q, stderr:\n%s", got.Code, got.Out, got.ErrOut)
	}
	api.answer = func(string, map[string]any) *clitest.Status {
		return &clitest.Status{Code: 400, Reason: "BadRequest", Message: `strict decoding error: unknown field "spec.future"`}
	}
	if got := api.run(t, "-f", createSeveral); !strings.HasPrefix(got.ErrOut, severalNote+"error: testdata/create/several.yaml:11:5: the API server rejects this: batch/v1 has no field spec.future; correct the name, or remove it\n") {
		t.Errorf("%s", got.ErrOut)
	}
	api.answer = func(string, map[string]any) *clitest.Status {
		return &clitest.Status{Code: 403, Reason: "Forbidden", Message: "jobs.batch is forbidden"}
	}
	if got := api.run(t, "-f", createSeveral); strings.Count(got.ErrOut, "you may not create") != 2 || !strings.Contains(got.ErrOut, "kubectl auth can-i create jobs.batch -n ns1") {
		t.Errorf("%s", got.ErrOut)
	}
}

// Without a response, or without valid credentials, the next request would fail, too.
func TestCreateStopsWithoutAServer(t *testing.T) {
	api := newCreations(t)
	api.answer = func(string, map[string]any) *clitest.Status {
		return &clitest.Status{Code: 401, Reason: "Unauthorized", Message: "Unauthorized"}
	}
	got := api.run(t, "-f", createSeveral)
	if len(api.requests) != 1 || !strings.HasPrefix(got.ErrOut, severalNote+"error: the API server rejected your credentials") || !strings.HasSuffix(got.ErrOut, "error: 2 more objects were not sent\n") {
		t.Errorf("%q, %s", api.requests, got.ErrOut)
	}
	api.Close()
	if got = api.run(t, "-f", createSeveral); got.Code != cmdutil.ExitError || cmdutil.KindOf(cmdutil.Flatten(got.Err)[0]) != cmdutil.KindUnreachable {
		t.Errorf("%s", got.ErrOut)
	}
}

// If the response is lost, it is unknown whether the object exists.
//
// Requirements: CLI-05
func TestCreationWithoutAnAnswerMayHaveHappened(t *testing.T) {
	api := newCreations(t)
	api.answer = func(string, map[string]any) *clitest.Status {
		return &clitest.Status{Code: 504, Reason: "Timeout", Message: "too slow"}
	}
	got := api.run(t, "-f", clitest.WriteManifest(t, clitest.PlainJob))
	if want := "error: the Job may have been created nevertheless; look for it with: kubectl get job a\n"; got.Code != cmdutil.ExitError || !strings.HasSuffix(got.ErrOut, want) {
		t.Errorf("exit %d, %s", got.Code, got.ErrOut)
	}
	if got = api.run(t, "-f", clitest.WriteManifest(t, clitest.PlainJob), "--dry-run=server"); strings.Contains(got.ErrOut, "may have been created") {
		t.Errorf("a dry run: %s", got.ErrOut)
	}
}

func streamsOf(out, errOut io.Writer) genericiooptions.IOStreams {
	return genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: errOut}
}

func TestCreateIsInterrupted(t *testing.T) {
	api := newCreations(t)
	api.hold = make(chan struct{})
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, api.URL))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var out, errOut leash.Output
	go func() {
		done <- program.Execute(ctx, []string{"create", "-f", createSeveral}, streamsOf(&out, &errOut), clitest.NewEnv())
	}()
	<-api.came
	cancel()
	select {
	case err := <-done:
		if cmdutil.ExitCode(err) != cmdutil.ExitInterrupted {
			t.Errorf("exit %d: %v", cmdutil.ExitCode(err), err)
		}
	case <-time.After(clitest.Patience):
		t.Error("goes on")
	}
	close(api.hold)
}

func TestCreateFlagsAreCompleted(t *testing.T) {
	for args, want := range map[string]string{"create -o js": "json\njsonpath", "create --dry-run c": "client\n", "lint -o ": "json\nyaml\n", "create --validate=w": "warn\n"} {
		if got := program.Run(t, nil, append([]string{"__complete"}, strings.Split(args, " ")...)...); !strings.HasPrefix(got.Out, want) {
			t.Errorf("%s: %q", args, got.Out)
		}
	}
}
