/* Two palettes that are told apart with every kind of colour vision. */
#include "results/plot/plot_colours.h"

#include <math.h>

/* M. Okabe, K. Ito, Color universal design, 2008. */
static const unsigned word_rgb[PLOT_WORD_COLOURS] = {0x0072b2, 0xe69f00, 0x009e73, 0xd55e00,
                                                     0xcc79a7, 0x56b4e9, 0x000000, 0x999999};

/* Viridis (S. van der Walt, N. Smith; CC0) without its pale end. */
static const unsigned number_rgb[] = {0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e,
                                      0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b};
enum { NUMBER_RGB = sizeof number_rgb / sizeof number_rgb[0] };

unsigned plot_colour_mix(unsigned one, unsigned other, double share)
{
    unsigned rgb = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        const double a = (double)(one >> shift & 255), b = (double)(other >> shift & 255);
        rgb |= (unsigned)lround(a + (b - a) * share) << shift;
    }
    return rgb;
}

unsigned plot_colour(bool is_number, size_t i, size_t n)
{
    if (!is_number || n < 2)
        return word_rgb[i % PLOT_WORD_COLOURS];
    const double at = (double)i / (double)(n - 1) * (NUMBER_RGB - 1);
    const size_t below = (size_t)at < NUMBER_RGB - 1 ? (size_t)at : NUMBER_RGB - 2;
    return plot_colour_mix(number_rgb[below], number_rgb[below + 1], at - (double)below);
}

unsigned plot_colour_ink(unsigned rgb)
{
    /* Luma of ITU-R BT.601. */
    const double luma = 0.299 * (rgb >> 16 & 255) + 0.587 * (rgb >> 8 & 255) + 0.114 * (rgb & 255);
    return luma < 130 ? 0xffffff : 0x000000;
}
