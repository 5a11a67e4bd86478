<?php
/**
 * Plugin Name: Course Dates
 * Description: Shows the coming course dates of a school's catalog by a shortcode or a block.
 * Version: 1.0.0
 * Requires at least: 6.0
 * Requires PHP: 7.4
 * License: MIT
 */

if (!defined('ABSPATH')) {
    exit;
}

const COURSE_DATES_FRESH_SECONDS = 300;
const COURSE_DATES_RETRY_SECONDS = 60;
const COURSE_DATES_LAST_COPY_SECONDS = 86400;
const COURSE_DATES_DEFAULTS = array('src' => '', 'lang' => '', 'tag' => '', 'limit' => 5);
/** From this number on the places are not counted. */
const COURSE_DATES_FEW_SEATS = 10;

const COURSE_DATES_TEXTS = array(
    'en' => array(
        'all' => 'All courses',
        'none' => 'There are no coming dates at the moment.',
        'failed' => 'The dates could not be loaded.',
        'no_src' => 'Course dates: src is the https address of a catalog.',
        'free' => 'Free of charge',
        'online' => 'Online',
        'until' => 'until',
        'open' => 'Places available',
        'one' => 'One place left',
        'few' => '%d places left',
        'waiting_list' => 'Waiting list',
        'fully_booked' => 'Fully booked',
        'postponed' => 'Postponed',
        'over' => 'Booking has closed',
    ),
    'no' => array(
        'all' => 'Alle kurs',
        'none' => 'Det er ingen kommende kurs for øyeblikket.',
        'failed' => 'Kursdatoene kunne ikke lastes.',
        'no_src' => 'Kursdatoer: src er https-adressen til en kurskatalog.',
        'free' => 'Gratis',
        'online' => 'På nett',
        'until' => 'til',
        'open' => 'Ledige plasser',
        'one' => 'Én plass igjen',
        'few' => '%d plasser igjen',
        'waiting_list' => 'Venteliste',
        'fully_booked' => 'Fullbooket',
        'postponed' => 'Utsatt',
        'over' => 'Påmeldingen er stengt',
    ),
);

add_shortcode('course_dates', 'course_dates_render');
add_action('init', 'course_dates_register_block');

/** Renders the shortcode [course_dates src="https://…/catalog/school" lang="no" tag="12" limit="5"] and the block. */
function course_dates_render($attributes)
{
    $given = shortcode_atts(COURSE_DATES_DEFAULTS, is_array($attributes) ? $attributes : array(), 'course_dates');
    $lang = in_array($given['lang'], array('en', 'no'), true) ? $given['lang'] : course_dates_site_language();
    $texts = COURSE_DATES_TEXTS[$lang];
    $src = rtrim(trim(preg_replace('/[?#].*/s', '', (string) $given['src'])), '/');
    if (!preg_match('#^https?://#i', $src)) {
        return '<p class="course-dates-note">' . esc_html($texts['no_src']) . '</p>';
    }
    $query = array('lang' => $lang, 'limit' => max(1, min(100, (int) $given['limit'])));
    if ((string) $given['tag'] !== '') {
        $query['tag'] = (string) $given['tag'];
    }
    $items = course_dates_load($src . '/dates.json?' . http_build_query($query));
    $all = '<a href="' . esc_url($src . '?lang=' . $lang, array('http', 'https')) . '">' . esc_html($texts['all']) . '</a>';
    if (!$items) {
        $text = $items === null ? $texts['failed'] : $texts['none'];
        return '<p class="course-dates-note">' . esc_html($text) . ' ' . $all . '</p>';
    }
    $rows = array_map(fn ($item) => course_dates_row($item, $texts, $lang), $items);
    return '<div class="course-dates"><ul>' . implode('', $rows) . '</ul><p>' . $all . '</p></div>';
}

function course_dates_site_language()
{
    return preg_match('/^(no|nb|nn)/', determine_locale()) ? 'no' : 'en';
}

/**
 * The dates, at most five minutes old. While the catalog is away the last good copy of the past 24 hours, and null
 * without one; then the catalog is asked again after a minute.
 */
function course_dates_load($url)
{
    $key = 'course_dates_' . md5($url);
    $fresh = get_transient($key);
    if (is_array($fresh)) {
        return $fresh['items'];
    }
    $items = course_dates_fetch($url);
    if ($items !== null) {
        set_transient($key, array('items' => $items), COURSE_DATES_FRESH_SECONDS);
        set_transient($key . '_last', array('items' => $items), COURSE_DATES_LAST_COPY_SECONDS);
        return $items;
    }
    $last = get_transient($key . '_last');
    $items = is_array($last) ? $last['items'] : null;
    set_transient($key, array('items' => $items), COURSE_DATES_RETRY_SECONDS);
    return $items;
}

/** The dates of a response; null if there is none. */
function course_dates_fetch($url)
{
    $options = array('timeout' => 5, 'redirection' => 2, 'limit_response_size' => 1048576);
    $response = wp_safe_remote_get($url, $options);
    if (is_wp_error($response) || wp_remote_retrieve_response_code($response) !== 200) {
        return null;
    }
    $body = json_decode(wp_remote_retrieve_body($response), true);
    if (!is_array($body) || !isset($body['items']) || !is_array($body['items'])) {
        return null;
    }
    return array_values(array_filter($body['items'], 'is_array'));
}

function course_dates_row($item, $texts, $lang)
{
    $url = ($item['url'] ?? '') . '?lang=' . $lang;
    $details = array(course_dates_place($item, $texts), course_dates_price($item, $texts), course_dates_seats($item, $texts));
    return '<li><a href="' . esc_url($url, array('http', 'https')) . '">' . esc_html($item['title'] ?? '') . '</a>'
        . '<br>' . esc_html(course_dates_when($item, $texts))
        . '<br>' . esc_html(implode(' · ', array_filter($details))) . '</li>';
}

/** Names the zone of the times where it is not that of the site. */
function course_dates_when($item, $texts)
{
    $zone = (string) ($item['timezone'] ?? '');
    $has_times = !empty($item['start_time_at']) || !empty($item['end_time_at']);
    $is_other = $has_times && $zone !== '' && $zone !== wp_timezone_string();
    return course_dates_span($item, $texts) . ($is_other ? ' (' . $zone . ')' : '');
}

function course_dates_span($item, $texts)
{
    $day = fn ($day) => wp_date(get_option('date_format'), strtotime($day . ' 00:00:00 UTC'), new DateTimeZone('UTC'));
    $start = substr((string) ($item['start_time_at'] ?? ''), 0, 5);
    $end = substr((string) ($item['end_time_at'] ?? ''), 0, 5);
    $entry = fn ($one, $time) => implode(', ', array_filter(array($day($one), $time)));
    if ($item['start_at'] !== $item['end_at']) {
        return $entry($item['start_at'], $start) . ' – ' . $entry($item['end_at'], $end);
    }
    if ($start === '' && $end !== '') {
        return $entry($item['start_at'], $texts['until'] . ' ' . $end);
    }
    return $entry($item['start_at'], implode('–', array_filter(array($start, $end))));
}

function course_dates_place($item, $texts)
{
    $place = $item['place'] ?? array();
    $parts = array(empty($place['online']) ? '' : $texts['online'], $place['city'] ?? $place['title'] ?? $place['additional_info'] ?? '');
    return implode(', ', array_filter($parts));
}

function course_dates_price($item, $texts)
{
    if (empty($item['price'])) {
        return '';
    }
    $value = (float) $item['price']['value'];
    if ($value === 0.0) {
        return $texts['free'];
    }
    return $item['price']['currency'] . ' ' . number_format_i18n($value, fmod($value, 1) === 0.0 ? 0 : 2);
}

function course_dates_seats($item, $texts)
{
    if (($item['status'] ?? '') === 'postponed') {
        return $texts['postponed'];
    }
    $status = $item['seats']['status'] ?? 'open';
    if (empty($item['booking_url']) && $status !== 'fully_booked') {
        return $texts['over'];
    }
    if ($status !== 'open') {
        return $texts[$status] ?? '';
    }
    $left = $item['seats']['left'] ?? null;
    if ($left === null || $left >= COURSE_DATES_FEW_SEATS) {
        return $texts['open'];
    }
    return (int) $left === 1 ? $texts['one'] : sprintf($texts['few'], $left);
}

/** The block has the attributes of the shortcode; the editor shows what the server renders. */
function course_dates_register_block()
{
    $packages = array('wp-blocks', 'wp-element', 'wp-block-editor', 'wp-components', 'wp-server-side-render');
    wp_register_script('course-dates-editor', '', $packages, '1.0.0', true);
    wp_add_inline_script('course-dates-editor', COURSE_DATES_EDITOR_SCRIPT);
    $text = array('type' => 'string', 'default' => '');
    register_block_type('course-dates/list', array(
        'api_version' => 3,
        'title' => 'Course dates',
        'category' => 'widgets',
        'icon' => 'calendar-alt',
        'attributes' => array(
            'src' => $text,
            'lang' => $text,
            'tag' => $text,
            'limit' => array('type' => 'number', 'default' => COURSE_DATES_DEFAULTS['limit']),
        ),
        'editor_script_handles' => array('course-dates-editor'),
        'render_callback' => 'course_dates_render',
    ));
}

const COURSE_DATES_EDITOR_SCRIPT = <<<'JS'
(function ({ blocks, element, blockEditor, components, serverSideRender }) {
  const create = element.createElement;
  const labels = { src: 'Address of the catalog', lang: 'Language: en or no', tag: 'Topic: id or title', limit: 'Dates' };
  blocks.registerBlockType('course-dates/list', {
    title: 'Course dates',
    category: 'widgets',
    icon: 'calendar-alt',
    edit({ attributes, setAttributes }) {
      const field = (name) =>
        create(components.TextControl, {
          key: name,
          label: labels[name],
          type: name === 'limit' ? 'number' : 'text',
          value: attributes[name],
          onChange: (value) => setAttributes({ [name]: name === 'limit' ? Number(value) || 1 : value }),
        });
      return create(
        'div',
        blockEditor.useBlockProps(),
        create(
          blockEditor.InspectorControls,
          null,
          create(components.PanelBody, { title: 'Course dates' }, Object.keys(labels).map(field)),
        ),
        create(serverSideRender, { block: 'course-dates/list', attributes }),
      );
    },
    save: () => null,
  });
})(window.wp);
JS;
