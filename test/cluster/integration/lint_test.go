package integration

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// lintBase is a Job without findings.
const lintBase = `
metadata: {name: a}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: i}]
      initContainers: [{name: init, image: i}]
`

// lintChanges returns the changes of testdata/changes.txt.
func lintChanges(t *testing.T) (changes []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/changes.txt")
	assert.NoError(t, err)
	var places []string
	complete := true // the places of the next changes
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		place, isPlace := strings.CutPrefix(line, "= ")
		switch {
		case line == "" || line[0] == '#':
		case isPlace && complete:
			places, complete = []string{place}, false
		case isPlace:
			places = append(places, place)
		default:
			complete = true
			for _, place := range places {
				changes = append(changes, strings.Replace(place, "@", repeated(line), 1))
			}
		}
	}
	return changes
}

var repetition = regexp.MustCompile(`<(.*)\*(\d+)>|<1\.\.(\d+)>`)

// repeated writes out repetitions in a change, <TEXT*N> and <1..N>.
func repeated(change string) string {
	return repetition.ReplaceAllStringFunc(change, func(text string) string {
		parts := repetition.FindStringSubmatch(text)
		if n, err := strconv.Atoi(parts[2]); err == nil {
			return strings.Repeat(parts[1], n)
		}
		n, _ := strconv.Atoi(parts[3])
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d,", i+1)
		}
		return b.String()
	})
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	assert.NoError(t, yaml.Unmarshal([]byte(text), &object), text)
	return object
}

// lay merges the fields of a change into an object; null removes a field.
func lay(object, change map[string]any) map[string]any {
	result := maps.Clone(object)
	for name, value := range change {
		inner, isObject := value.(map[string]any)
		outer, wasObject := result[name].(map[string]any)
		switch {
		case value == nil:
			delete(result, name)
		case isObject && wasObject:
			result[name] = lay(outer, inner)
		default:
			result[name] = value
		}
	}
	return result
}

// lintServer compares lint with the API server.
type lintServer struct {
	t      *testing.T
	client dynamic.Interface
	into   string
	// taken and refused count accepted and rejected objects, to check that both occur.
	taken, refused int
}

func newLintServer(t *testing.T) *lintServer {
	t.Helper()
	config := rest.CopyConfig(apiServer.Config)
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	assert.NoError(t, err)
	return &lintServer{t: t, client: client, into: newNamespace(t, newClient(t, apiServer.Config, "user"))}
}

// create creates an object without storing it.
func (s *lintServer) create(ctx context.Context, namespace string, object map[string]any) error {
	content := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	resource := batchv1.SchemeGroupVersion.WithResource(strings.ToLower(content.GetKind()) + "s")
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict}
	_, err := s.client.Resource(resource).Namespace(namespace).Create(ctx, content, options)
	return err
}

// inParallel returns the results for all elements, of which a few are worked on at a time.
func inParallel[A, B any](all []A, result func(A) B) []B {
	results := make([]B, len(all))
	next := make(chan int)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range next {
				results[i] = result(all[i])
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	group.Wait()
	return results
}

// compare creates the object without storing it: the API server rejects it if, and only if, lint has a finding with
// Rejected.
func (s *lintServer) compare(what string, object map[string]any) {
	s.t.Helper()
	content := jsonNumbers(object)
	err := s.create(s.t.Context(), s.into, content)
	if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		s.t.Fatalf("%.300s: %v", what, err)
	}
	if err == nil {
		s.taken++
	} else {
		s.refused++
	}
	var answers []string
	for _, f := range lint.Check(lint.Input{Object: content}) {
		if f.Rejected {
			answers = append(answers, f.Field+": "+f.Message)
		}
	}
	assert.Equalf(s.t, (err != nil), (len(answers) > 0), "%.300s\nthe API server: %v\nlint: %q", what, err, answers)
}

// jsonNumbers converts floats from YAML to integers.
func jsonNumbers(object map[string]any) map[string]any {
	data, _ := yaml.Marshal(object)
	u := &unstructured.Unstructured{Object: map[string]any{}}
	if json, err := yaml.YAMLToJSON(data); err != nil || u.UnmarshalJSON(json) != nil {
		panic("not an object: " + string(data))
	}
	return u.Object
}

func asCronJob(metadata any, spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": spec}
}

func asJob(spec map[string]any, base map[string]any) map[string]any {
	return lay(base, map[string]any{"apiVersion": "batch/v1", "kind": "Job", "spec": spec})
}

// daily is the spec of a CronJob.
func daily(job map[string]any) map[string]any {
	return map[string]any{"schedule": "0 3 * * *", "jobTemplate": map[string]any{"spec": job["spec"]}}
}

// The API server also accepts all documented manifests, except for JobSet, which it does not know.
// Requirements: LNT-02
func TestAPIServerAcceptsTheDocumentedManifests(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	objects, problems := manifest.Read(t.Context(), manifest.Options{Files: []string{"../../../internal/cli/lint/testdata/documented"}, Recursive: true})
	for _, o := range objects {
		if o.Kind() != "Job" && o.Kind() != "CronJob" {
			continue
		}
		metadata, _ := o.Content["metadata"].(map[string]any)
		delete(metadata, "namespace")
		s.compare(o.Position("").String(), o.Content)
	}
	if len(problems) > 0 || s.refused > 0 || s.taken < 35 {
		t.Errorf("%v; %d taken, %d refused", problems, s.taken, s.refused)
	}
}

// Each change alone, on a plain and on an Indexed Job, and in a CronJob.
// Requirements: LNT-01, PFP-11, PFP-12, BLI-01, BLI-30, PRP-01, SUC-01, SUC-02
func TestLintRejectsWhatTheAPIServerRejects(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	base := decoded(t, lintBase)
	indexed := decoded(t, `{completionMode: Indexed, completions: 5, backoffLimitPerIndex: 1}`)
	for _, change := range lintChanges(t) {
		for _, spec := range []map[string]any{decoded(t, change), lay(indexed, decoded(t, change))} {
			job := asJob(spec, base)
			s.compare(change, job)
			s.compare("CronJob: "+change, asCronJob(job["metadata"], daily(job)))
		}
	}
	if s.taken < 50 || s.refused < 50 {
		t.Errorf("%d taken and %d refused", s.taken, s.refused)
	}
}

// Several changes at once.
// Requirements: PFP-12, BLI-30, SUC-02
func TestLintAgreesWithTheAPIServerAtRandom(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	base, changes := decoded(t, lintBase), lintChanges(t)
	random := rand.New(rand.NewPCG(4443, 3850)) // deterministic
	for range 400 {
		spec := map[string]any{}
		var what []string
		for range 2 + random.IntN(4) {
			change := changes[random.IntN(len(changes))]
			what = append(what, fmt.Sprintf("%.120s", change))
			spec = lay(spec, decoded(t, change))
		}
		s.compare(strings.Join(what, " + "), asJob(spec, base))
	}
	if s.taken < 20 || s.refused < 100 {
		t.Errorf("%d taken and %d refused", s.taken, s.refused)
	}
}

// The fields of CronJobs around the Job, schedules in particular.
// Requirements: JOB-40
func TestLintOfCronJobsAgreesWithTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	job := asJob(decoded(t, `{}`), decoded(t, lintBase))
	changes := []string{
		`{concurrencyPolicy: Allow}`, `{concurrencyPolicy: Forbid}`, `{concurrencyPolicy: Replace}`, `{concurrencyPolicy: ""}`, `{concurrencyPolicy: forbid}`,
		`{successfulJobsHistoryLimit: 0}`, `{successfulJobsHistoryLimit: -1}`, `{failedJobsHistoryLimit: -1}`, `{startingDeadlineSeconds: 0}`, `{startingDeadlineSeconds: -1}`,
		`{timeZone: ""}`, `{timeZone: Local}`, `{timeZone: local}`, `{timeZone: UTC}`, `{timeZone: Europe/Berlin}`, `{timeZone: Mars/Olympus}`, `{timeZone: ../UTC}`,
	}
	for _, schedule := range []string{
		"", " ", "0 3 * * *", "0 3 * *", "0 3 * * * *", "*/5 0-23/2 1,15 jan-MAR sun", "? * ? * ?", "60 * * * *", "59 23 31 12 6", "* 24 * * *", "* * 0 * *", "* * 32 * *", "* * * 0 *", "* * * 13 *",
		"* * * * 7", "*/0 * * * *", "*/60 * * * *", "*/x * * * *", "5-1 * * * *", "1-5/2 * * * *", "1-2-3 * * * *", "1/2/3 * * * *", "5/10 * * * *", "1,2,x * * * *", "1,,2 * * * *", ", * * * *", "-1 * * * *",
		"+1 * * * *", "1- * * * *", "5/ * * * *", "* * * mon *", "* * * * monday", "*-5 * * * *", "@daily", "@Daily", "@every 1h30m", "@every x", "@every", "@often", "@daily ", " @daily", "TZ=UTC 0 3 * * *",
		"CRON_TZ=UTC 0 3 * * *", "0\t3 * * *", "jan * * * *", "?-5 * * * *", "*5 * * * *", "00 03 * * *", "1,2- * * * *", "@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@midnight", "@hourly",
	} {
		changes = append(changes, fmt.Sprintf(`{schedule: %q}`, schedule))
	}
	for _, change := range changes {
		s.compare(change, asCronJob(job["metadata"], lay(daily(job), decoded(t, change))))
	}
	if s.taken < 20 || s.refused < 30 {
		t.Errorf("%d taken and %d refused", s.taken, s.refused)
	}
}

// Requirements: JOB-40
func TestLintOfNamesAgreesWithTheAPIServer(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	base := decoded(t, lintBase)
	for _, metadata := range []string{
		`{name: ""}`, `{name: "", generateName: a-}`, `{name: A}`, `{name: a_b}`, `{name: a.b}`, `{name: ` + strings.Repeat("a", 61) + `}`, `{name: ` + strings.Repeat("a", 62) + `}`,
		`{name: ` + strings.Repeat("a", 63) + `}`, `{name: ` + strings.Repeat("a", 64) + `}`, `{name: ` + strings.Repeat("a", 52) + `}`, `{name: ` + strings.Repeat("a", 53) + `}`,
	} {
		for _, spec := range []string{`{}`, `{completionMode: Indexed, completions: 5}`, `{completionMode: Indexed, completions: 10}`, `{completionMode: Indexed, completions: 11}`, `{completionMode: Indexed}`} {
			job := lay(asJob(decoded(t, spec), base), map[string]any{"metadata": decoded(t, metadata)})
			s.compare(metadata+spec, job)
			s.compare("CronJob: "+metadata+spec, asCronJob(job["metadata"], daily(job)))
		}
	}
}
