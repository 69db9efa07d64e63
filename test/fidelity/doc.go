// Package fidelity compares the virtual API server (sim.Store) with a real one: it makes the same random calls to
// both, and compares each answer, and the stored object after each call.
//
//	make fidelity                              # 10,000 sequences on the newest release
//	make fidelity FIDELITY_SEQUENCES=1000 KUBE_VERSION=v1.36.3
//	go test ./test/fidelity                    # 200 sequences, and all differences of the past
//	go test ./test/fidelity -run Replay -replay FILE
//
// A call is a line of text, such as "status job0 active=-1 condition=Failed:True". Sequences have 5 to 30 calls on two
// Jobs and three pods, and the generator looks at the objects to make the next call an interesting one. A difference
// is shrunk to the fewest calls and arguments that show it, and printed as lines that -replay reads.
//
// Compared are: the code and the reason of an answer, the type and the field of each cause of a 422, and the kind of a
// 409; whether the resourceVersion has changed; and all fields of the object except those in notModeled, with UIDs and
// generated names replaced. Times that servers set may differ by clockTolerance. The object of the real server is that
// of its answer, and an error means that it has not changed; at the end of a sequence, all objects are read again.
//
// What the virtual API server does not have, and the generator does not use:
//
//   - the pod template beyond its metadata, restart policy, images, and requests of CPU, and the format of those; affinity of
//     suspended Jobs; spec.scheduling
//   - the condition PodScheduled, the QoS class, and the generation of pods; their spec beyond restart policy, node, images,
//     deadline and grace period; statuses of init containers
//   - metadata in a request to /status, which the real one stores, and updates without a resourceVersion
//   - deletions of Jobs with preconditions, or without a propagation policy; propagation policies for pods
//   - bindings of pods that have a node, or are being deleted, or whose namespace is
//   - Jobs created without labels: the first write to one stores those that the real server adds when it reads, and
//     so changes the resourceVersion even if it changes nothing else
//   - patches of pods other than those of our controller, and owners with a UID that another owner has
//   - PodDisruptionBudgets, resource quotas, patches of Jobs, server-side apply and managedFields, dry runs
//   - what garbage collector, pod garbage collector and namespace controller do: they are not the API server
package fidelity
