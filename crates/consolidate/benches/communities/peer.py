# What igraph is asked: FILE SEED leiden|rank. Prints milliseconds of processor time from the graph in
# memory to the result, the peak of the process in megabytes, and modularity or the sum of all ranks.
import array
import random
import resource
import sys
import time

import igraph

path, seed, what = sys.argv[1], int(sys.argv[2]), sys.argv[3]
numbers = array.array("I")
with open(path, "rb") as file:
    numbers.frombytes(file.read())
nodes, directed = numbers[0], bool(numbers[1]) and what == "rank"
graph = igraph.Graph(n=nodes, edges=zip(numbers[2::2], numbers[3::2]), directed=directed)
del numbers
random.seed(seed)
begun = time.process_time()
if what == "rank":
    found = graph.pagerank(directed=directed)
else:
    found = graph.community_leiden(objective_function="modularity", n_iterations=2)
spent = (time.process_time() - begun) * 1e3
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(spent, peak, sum(found) if what == "rank" else graph.modularity(found))
