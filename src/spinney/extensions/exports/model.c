// What an exported file says beside its tables: parts by name, with their blank lines.

//// about
// NAN and NULL are missing. Texts are UTF-8. Compile as C99, so that sums are not fused
// into other bits: cc -std=c99 -c model.c

#include <math.h>
#include <string.h>

//// structs

struct cell { double number; const char *text; };
struct answer { const char *text; double number; int node; };
struct question { int cell, is_text, first, count; };
struct part { int node; double weight; };
struct term { int cell; double factor, missing; int first, count; };
struct node {
  int question, questions, otherwise, part, parts, says, term, terms;
  double plus;
};

//// number
static double number_or_nan(double number) { return isfinite(number) ? number : NAN; }

//// same
static int same(const char *text, const char *other) {
  return text && strcmp(text, other) == 0;
}

//// walk

// The answer to a text, or none.
static const struct answer *answer_to(const char *text, int first, int count) {
  for (int at = first; text && at < first + count; at++)
    if (strcmp(text, ANSWERS[at].text) == 0) return &ANSWERS[at];
  return 0;
}

// The node that comes next; -1 where the row is divided.
static int following(const struct cell *cells, const struct node *node) {
  for (int at = node->question; at < node->question + node->questions; at++) {
    const struct question *asks = &QUESTIONS[at];
    if (asks->is_text) {
      const struct answer *answer =
          answer_to(cells[asks->cell].text, asks->first, asks->count);
      if (answer) return answer->node;
    } else if (!isnan(cells[asks->cell].number)) {
      const struct answer *answer = &ANSWERS[asks->first];
      while (cells[asks->cell].number > answer->number) answer++;
      return answer->node;
    }
  }
  return node->otherwise;
}

// What the linear model of a leaf says.
static double line(const struct cell *cells, const struct node *node) {
  double total = 0;
  for (int at = node->term; at < node->term + node->terms; at++) {
    const struct term *term = &TERMS[at];
    double value = term->missing;
    if (term->count) {
      const struct answer *answer =
          answer_to(cells[term->cell].text, term->first, term->count);
      if (answer) value = answer->number;
    } else if (!isnan(cells[term->cell].number)) {
      value = cells[term->cell].number;
    }
    total += term->factor * value;
  }
  return total + node->plus;
}

// What the leaves of a tree say of a row, each by its part of the row.
static void tree_says(const struct cell *cells, int root, double *totals) {
  struct part here[MOST_PARTS], divided[MOST_PARTS];
  int n_here = 1;
  here[0].node = root;
  here[0].weight = 1;
  memset(totals, 0, N_OUTPUTS * sizeof *totals);
  while (n_here) {
    int n_whole = 0, n_divided = 0;
    for (int at = 0; at < n_here; at++) {
      const struct node *node = &NODES[here[at].node];
      const double weight = here[at].weight;
      if (!node->questions) {
        for (int k = 0; k < N_OUTPUTS; k++)
          totals[k] +=
              weight * (node->says < 0 ? line(cells, node) : SAYS[node->says][k]);
        continue;
      }
      const int next = following(cells, node);
      if (next >= 0) {
        here[n_whole].node = next;
        here[n_whole++].weight = weight;
        continue;
      }
      for (int k = node->part; k < node->part + node->parts; k++) {
        if (!(weight * PARTS[k].weight > 0)) continue;
        divided[n_divided].node = PARTS[k].node;
        divided[n_divided++].weight = weight * PARTS[k].weight;
      }
    }
    memcpy(here + n_whole, divided, (size_t)n_divided * sizeof *divided);
    n_here = n_whole + n_divided;
  }
}

// The last of the best, within 1e-12: rounding decides nothing.
static int best_of(const double *merits) {
  double most = merits[0];
  for (int k = 1; k < N_OUTPUTS; k++) if (merits[k] > most) most = merits[k];
  const double least = most - 1e-12 * fmax(1, fabs(most));
  int best = 0;
  for (int k = 0; k < N_OUTPUTS; k++) if (merits[k] >= least) best = k;
  return best;
}

// The mean of what the trees say of a row, or of their votes.
static void outputs(const struct model_row *row, double *totals) {
  struct cell cells[N_CELLS];
  double says[N_OUTPUTS];
  read_cells(row, cells);
  memset(totals, 0, N_OUTPUTS * sizeof *totals);
  for (int tree = 0; tree < N_TREES; tree++) {
    tree_says(cells, ROOTS[tree], says);
    const int best = MAJORITY ? best_of(says) : 0;
    for (int k = 0; k < N_OUTPUTS; k++) totals[k] += MAJORITY ? k == best : says[k];
  }
  for (int k = 0; k < N_OUTPUTS; k++) totals[k] /= N_TREES;
}

//// numeric

// Return the number that is predicted of a row.
double model_predict(const struct model_row *row) {
  double total;
  outputs(row, &total);
  return total;
}

//// shares

// Write the share of each class of model_classes.
void model_probabilities(const struct model_row *row, double *shares) {
  outputs(row, shares);
}

//// labels

// Return the class of a row, as its number among model_classes.
int model_predict(const struct model_row *row) {
  struct cell cells[N_CELLS];
  const struct node *node = &NODES[ROOTS[0]];
  read_cells(row, cells);
  while (node->questions) node = &NODES[following(cells, node)];
  return LABELS[node->says];
}

//// classes

// Return the class of a row, as its number among model_classes.
int model_predict(const struct model_row *row) {
  double merits[N_OUTPUTS];
  outputs(row, merits);MERITS
  return best_of(merits);
}

//// by_cost

  double shares[N_OUTPUTS];
  memcpy(shares, merits, sizeof shares);
  for (int k = 0; k < N_OUTPUTS; k++) {
    double cost = 0;
    for (int of = 0; of < N_OUTPUTS; of++) cost += shares[of] * COSTS[k][of];
    merits[k] = -cost;
  }
//// number_apart

// Add squared differences; 0 where the number is missing or too large to measure.
static int add_number(double number, double scale, const double *centres,
                      int may_lack, int power, double *totals) {
  if (isnan(number)) return may_lack;
  if (isinf(number / scale)) return 0;
  for (int k = 0; k < N_CLUSTERS; k++) {
    const double apart = ldexp(number / scale, -power) - ldexp(centres[k], -power);
    totals[k] += apart * apart;
  }
  return 1;
}
//// text_apart

// Add how unlike a text is; one that is not known is 1 from all.
static void add_text(const char *text, const struct apart *known, int count,
                     double *others) {
  int at = 0;
  if (!text) return;
  while (at < count && strcmp(text, known[at].text) != 0) at++;
  for (int k = 0; k < N_CLUSTERS; k++) others[k] += at < count ? known[at].from[k] : 1;
}
//// nearest

// Return the cluster of a row; -1 where a number is missing or too large to measure.
int model_predict(const struct model_row *row) {
  double totals[N_CLUSTERS] = {0}, others[N_CLUSTERS] = {0}, largest = LARGEST;
  int nearest = 0, power = 0;
//// power
  // Squares of very large numbers are those of numbers over a power of two.
  frexp(largest, &power);
  power = power > 400 ? power - 400 : 0;
//// least
  const double gamma = ldexp(GAMMA, -2 * power);
  for (int k = 0; k < N_CLUSTERS; k++) totals[k] += gamma * others[k];
  for (int k = 1; k < N_CLUSTERS; k++) if (totals[k] < totals[nearest]) nearest = k;
  return nearest;
}

//// end
