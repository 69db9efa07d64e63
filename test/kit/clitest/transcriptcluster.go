package clitest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/jsonpath"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

func (s *script) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) read(file string) string {
	data, err := os.ReadFile(filepath.Join(s.dir, file))
	s.must(err)
	return string(data)
}

// put stores the objects of files. Fields that the API server and the controller set may be left out.
func (s *script) put(files []string) {
	for _, file := range files {
		for document := range strings.SplitSeq(s.read(file), "---\n") {
			if document == "" {
				continue
			}
			data, err := yaml.YAMLToJSON([]byte(document))
			s.must(err)
			object := &unstructured.Unstructured{Object: map[string]any{}}
			s.must(json.Unmarshal(data, &object.Object))
			s.store(object)
		}
	}
}

func (s *script) store(object *unstructured.Unstructured) {
	kind := cmp.Or(object.GetKind(), "Job")
	at := metav1.NewTime(Now().Add(map[string]time.Duration{"Job": -5 * time.Minute, "CronJob": -48 * time.Hour}[kind] - map[string]time.Duration{"Pod": 2 * time.Minute}[kind]))
	object.SetNamespace(cmp.Or(object.GetNamespace(), "ns1"))
	object.SetUID(cmp.Or(object.GetUID(), types.UID("uid-"+object.GetName())))
	if created := object.GetCreationTimestamp(); created.IsZero() {
		object.SetCreationTimestamp(at)
	}
	switch kind {
	case "Job":
		object.SetKind(kind)
		object.SetAPIVersion("batch/v1")
		s.api.API.Put(object)
	case "Pod":
		pod := &corev1.Pod{}
		s.into(object, pod)
		if job := s.api.Job(pod.Labels[batchv1.JobNameLabel]); job != nil && pod.OwnerReferences == nil {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.GetName(), UID: job.GetUID(), Controller: ptr.To(true)}}
		}
		if index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]; index != "" {
			pod.Labels[batchv1.JobCompletionIndexAnnotation] = index
		}
		s.api.Pods.Put(pod)
	case "Event":
		event := &corev1.Event{}
		s.into(object, event)
		s.api.objects.Mu.Lock()
		s.api.objects.Events = append(s.api.objects.Events, event)
		s.api.objects.Mu.Unlock()
	case "CronJob":
		cronJob := &batchv1.CronJob{}
		s.into(object, cronJob)
		s.api.API.CronJobs = append(s.api.API.CronJobs, cronJob)
	default:
		s.t.Fatalf("%s is no kind of transcripts; use: answer", kind)
	}
}

func (s *script) into(object *unstructured.Unstructured, typed any) {
	data, err := json.Marshal(object.Object)
	s.must(err)
	s.must(yaml.UnmarshalStrict(data, typed))
}

// patch merges YAML, or the YAML in a file, into a Job or a pod.
func (s *script) patch(name, text string) {
	var stored any
	if job := s.api.Job(name); job != nil {
		stored = job
	}
	if pod, ok := strings.CutPrefix(name, "pod/"); ok {
		s.api.Pods.Locked(func() {
			for _, p := range s.api.Pods.Pods {
				if p.Name == pod {
					p = p.DeepCopy()
					p.Kind, stored = "Pod", p
				}
			}
		})
	}
	if stored == nil { // A hook comes at each write.
		return
	}
	before, err := json.Marshal(stored)
	s.must(err)
	if !strings.Contains(text, "{") {
		text = s.read(text)
	}
	change, err := yaml.YAMLToJSON([]byte(text))
	s.must(err)
	after, err := jsonpatch.MergePatch(before, change)
	s.must(err)
	object := &unstructured.Unstructured{Object: map[string]any{}}
	s.must(json.Unmarshal(after, &object.Object))
	s.store(object)
}

// refuse makes requests fail whose path ends in a suffix: SUFFIX CODE REASON.
func (s *script) refuse(args []string) {
	code, err := strconv.Atoi(args[1])
	s.must(err)
	s.api.objects.RefusePath(args[0], code, args[2])
}

// reject makes the API server answer a write with an error instead of storing it: CALL CODE REASON MESSAGE [CAUSES]. The call
// of a dry run is also "try jobs".
func (s *script) reject(args []string) {
	code, err := strconv.Atoi(args[1])
	s.must(err)
	if s.api.causes = nil; len(args) > 4 {
		s.must(yaml.Unmarshal([]byte(args[4]), &s.api.causes))
	}
	s.api.Reject = func(call string, r *http.Request) *Status {
		if isTry := r.URL.Query().Has("dryRun"); call != args[0] && (!isTry || args[0] != "try jobs") {
			return nil
		}
		return &Status{code, args[2], args[3]}
	}
}

// answer sets the response to requests for a path: PATH FILE.
func (s *script) answer(args []string) {
	var answer any
	s.must(yaml.Unmarshal([]byte(s.read(args[1])), &answer))
	s.api.objects.API.Mu.Lock()
	defer s.api.objects.API.Mu.Unlock()
	if s.api.API.Answers == nil {
		s.api.API.Answers = map[string]any{}
	}
	s.api.API.Answers[args[0]] = answer
}

// hook runs a command whenever a write arrives, before or after it is stored; several run in order.
func (s *script) hook(call string, words []string, before bool) {
	if words[0] == "kubectl" {
		s.t.Fatal("before and after run no verb: one runs at a time")
	}
	served := s.api.Around
	if served == nil {
		served = func(_ string, _ *http.Request, serve func()) { serve() }
	}
	s.api.Around = func(now string, r *http.Request, serve func()) {
		run := func() {
			if now == call {
				s.run(words)
			}
		}
		served(now, r, func() {
			if before {
				run()
			}
			serve()
		})
		if !before {
			run()
		}
	}
}

// get prints a JSONPath template of a Job, or of another object that was created: RESOURCE/NAME.
func (s *script) get(name, template string) {
	var object any
	if job := s.api.Job(name); job != nil {
		object = job.Object
	}
	s.api.API.Mu.Lock()
	defer s.api.API.Mu.Unlock()
	for path, answer := range s.api.API.Answers {
		if strings.Contains(name, "/") && strings.HasSuffix(path, "/"+name) {
			object = answer
		}
	}
	if object == nil {
		s.show("| ", "not found")
		return
	}
	path := jsonpath.New("get").AllowMissingKeys(true)
	s.must(path.Parse(template))
	var text strings.Builder
	s.must(path.Execute(&text, object))
	s.show("| ", text.String())
}
